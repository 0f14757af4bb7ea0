internal import RenderProtocol

/// What an embedded ICC profile means for the pixels that it came with.
package enum ProfileKind: Sendable, Hashable {
    /// None, one for other pixels, or one too large to be believed: the pixels are taken as sRGB.
    case none
    /// sRGB itself: there is nothing to convert.
    case same
    case other

    /// The pixels that a profile is for, by the signature in its header.
    package enum Pixels: String, Sendable {
        case rgb = "RGB "
        case grey = "GRAY"
        case cmyk = "CMYK"
    }

    package init(_ bytes: UnsafeRawBufferPointer, for pixels: Pixels) {
        guard (128...RenderLimits.usualProfileBytes).contains(bytes.count), bytes.has(pixels.rawValue, at: 16) else {
            self = .none
            return
        }
        self = bytes.has("IEC sRGB", at: 48) ? .same : .other
    }
}

extension UnsafeRawBufferPointer {
    package func has(_ text: String, at offset: Int) -> Bool { dropFirst(offset).starts(with: text.utf8) }
}
