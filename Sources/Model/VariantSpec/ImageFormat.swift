/// An image format, recognised by content and never by name. Its properties are one row of `traits`.
package enum ImageFormat: String, Sendable, CaseIterable, Hashable {
    case jpeg, png, webp, avif, gif, heic, tiff, jxl, svg

    /// Parses a suffix or a name, with either spelling of JPEG.
    package init?(suffix: some StringProtocol) {
        guard let format = ImageFormat(rawValue: suffix == "jpg" ? "jpeg" : String(suffix)) else { return nil }
        self = format
    }

    /// Parses an ASCII suffix, without a string for the formats that nearly every spec has.
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

    /// Suffix of a variant spec: `webp` in `640x480-q80.webp`; `jpg` for JPEG.
    package var suffix: String { traits.suffix.description }
    package var contentType: String { traits.contentType.description }
    /// Whether decoded pixels equal the encoded ones exactly. False for GIF, which has 256 colours.
    package var isLossless: Bool { traits.loss == .none }
    /// Whether a quality from 1 to 100 sets how much is lost.
    package var hasQuality: Bool { traits.loss == .byQuality }
    package var holdsAlpha: Bool { traits.holdsAlpha }
    /// Whether animated images are read and written in the format.
    package var holdsFrames: Bool { traits.holdsFrames }
    /// Whether a colour profile can be written into the format.
    package var holdsProfile: Bool { traits.holdsProfile }
    /// Whether cameras write the format. Screenshots and drawings use the other formats, and so do some photographs.
    package var isOfCameras: Bool { traits.isOfCameras }

    /// Encoder and limits of the format's variants; nil if the format is only read.
    package var output: OutputTraits? { traits.output }
    /// Whether variants can be rendered in the format.
    package var isWritten: Bool { traits.output != nil }
    package static let written = allCases.filter(\.isWritten)
    /// Suffixes for messages: `jpg, png, webp, avif or gif`.
    package static let writtenSuffixes = choice(written.map(\.suffix))

    /// Joins words as `a, b or c`.
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
    /// Name with its article, for use in a sentence.
    package var withArticle: String { (traits.beginsWithVowel ? "an " : "a ") + rawValue }
}
