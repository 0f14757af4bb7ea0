internal import RenderProtocol

/// The effect of an embedded ICC profile on its picture's pixels.
package enum ProfileKind: Sendable, Hashable {
    /// No profile, one for other pixels, or one that is implausibly large: pixels count as sRGB.
    case none
    /// sRGB itself: no conversion is needed.
    case same
    case other

    /// The type of pixels that a profile is for, by the signature in its header.
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
