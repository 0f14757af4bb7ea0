/// A picture format, known by content, never by name.
package enum ImageFormat: String, Sendable, CaseIterable, Hashable {
    case jpeg, png, webp, gif, avif, heic, tiff, jxl, svg

    /// As it ends a variant spec: `640x480-q80.webp`, `.jpg` for JPEG.
    package var suffix: String { self == .jpeg ? "jpg" : rawValue }

    /// From a suffix or a name, in either spelling of JPEG.
    package init?(suffix: some StringProtocol) {
        guard let format = ImageFormat(rawValue: suffix == "jpg" ? "jpeg" : String(suffix)) else { return nil }
        self = format
    }

    /// Pixels come back exactly as they went in. A GIF's do not: it has 256 colours.
    package var isLossless: Bool { self == .png || self == .tiff }

    /// A number from 1 to 100 says how much is lost.
    package var hasQuality: Bool { !isLossless && self != .gif && self != .svg }

    package var holdsAlpha: Bool { self != .jpeg }

    /// Moving pictures are read and written in it.
    package var holdsFrames: Bool { self == .webp || self == .gif }

    /// Cameras write it. Screenshots and drawings come in the other formats, and so do some photographs.
    package var isOfCameras: Bool { self == .jpeg || self == .heic }

    /// A colour profile can be written into it.
    package var holdsProfile: Bool { self != .gif }

    package var contentType: String { self == .svg ? "image/svg+xml" : "image/\(rawValue)" }
}

extension ImageFormat: CustomStringConvertible {
    package var description: String { rawValue }
    /// As it stands in a sentence.
    package var withArticle: String { self == .avif || self == .svg ? "an \(rawValue)" : "a \(rawValue)" }
}
