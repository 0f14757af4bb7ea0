/// A picture format, known by content, never by name. What is known of each is a row of `traits`.
package enum ImageFormat: String, Sendable, CaseIterable, Hashable {
    case jpeg, png, webp, avif, gif, heic, tiff, jxl, svg

    /// From a suffix or a name, in either spelling of JPEG.
    package init?(suffix: some StringProtocol) {
        guard let format = ImageFormat(rawValue: suffix == "jpg" ? "jpeg" : String(suffix)) else { return nil }
        self = format
    }

    /// From a suffix in ASCII: without a string for the formats that nearly every spec has.
    package init?(utf8 suffix: ArraySlice<UInt8>) {
        if suffix.elementsEqual("webp".utf8) {
            self = .webp
        } else if suffix.elementsEqual("jpg".utf8) {
            self = .jpeg
        } else if let format = ImageFormat(suffix: String(decoding: suffix, as: UTF8.self)) {
            self = format
        } else {
            return nil
        }
    }

    /// As it ends a variant spec: `640x480-q80.webp`, `.jpg` for JPEG.
    package var suffix: String { traits.suffix.description }
    package var contentType: String { traits.contentType.description }
    /// Pixels come back exactly as they went in. A GIF's do not: it has 256 colours.
    package var isLossless: Bool { traits.loss == .none }
    /// A number from 1 to 100 says how much is lost.
    package var hasQuality: Bool { traits.loss == .byQuality }
    package var holdsAlpha: Bool { traits.holdsAlpha }
    /// Moving pictures are read and written in it.
    package var holdsFrames: Bool { traits.holdsFrames }
    /// A colour profile can be written into it.
    package var holdsProfile: Bool { traits.holdsProfile }
    /// Cameras write it. Screenshots and drawings come in the other formats, and so do some photographs.
    package var isOfCameras: Bool { traits.isOfCameras }

    /// What variants of this format are made by; nil: it is only read.
    package var output: OutputTraits? { traits.output }
    /// Formats that variants are made in.
    package var isWritten: Bool { traits.output != nil }
    package static let written = allCases.filter(\.isWritten)
    /// `jpg, png, webp, avif or gif`
    package static let writtenSuffixes = choice(written.map(\.suffix))

    /// `a, b or c`
    static func choice(_ words: [String]) -> String {
        words.count < 2 ? words.joined() : words.dropLast().joined(separator: ", ") + " or " + words[words.count - 1]
    }

    /// Whether a variant of this format, quality and size always has full chroma. Lossy WebP never has.
    package func hasFullChroma(quality: Int, _ size: PixelSize) -> Bool {
        switch traits.chroma {
        case .full: true
        case .half: false
        case .byQuality: quality >= FullChroma.quality || size.pixels <= FullChroma.pixels
        }
    }
}

extension ImageFormat: CustomStringConvertible {
    package var description: String { rawValue }
    /// As it stands in a sentence.
    package var withArticle: String { (traits.beginsWithVowel ? "an " : "a ") + rawValue }
}
