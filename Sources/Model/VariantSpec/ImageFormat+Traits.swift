extension ImageFormat {
    /// The one table of formats. An output format is the `output` of its row, and its encoder.
    @inline(__always)
    var traits: FormatTraits {
        switch self {
        case .jpeg:
            FormatTraits(
                suffix: "jpg", contentType: "image/jpeg", loss: .byQuality, chroma: .byQuality, holdsAlpha: false,
                holdsFrames: false, holdsProfile: true, isOfCameras: true,
                output: OutputTraits(
                    encoder: .jpeg, sideLimit: 65_500, effort: 0, bytesPerPixel: 8, end: .scanned,
                    packet: .segment, losses: .jpeg))
        case .png:
            FormatTraits(
                suffix: "png", contentType: "image/png", loss: .none, chroma: .full, holdsAlpha: true,
                holdsFrames: false,
                holdsProfile: true, isOfCameras: false,
                // Compression level, 0...9, where libvips writes it; the direct path has its own. Memory: rows, their filtered
                // copies and zlib's output.
                output: OutputTraits(
                    encoder: .png, sideLimit: 65_535, effort: 6, bytesPerPixel: 12, end: .declared,
                    packet: .textChunk, losses: .png))
        case .webp:
            FormatTraits(
                suffix: "webp", contentType: "image/webp", loss: .byQuality, chroma: .half, holdsAlpha: true,
                holdsFrames: true, holdsProfile: true, isOfCameras: false,
                // Method, 0...6. 2 takes 40 % less CPU than 4 for 3 % more bytes at the same score; 3 costs like 4.
                output: OutputTraits(
                    encoder: .webp, sideLimit: 16_383, effort: 2, bytesPerPixel: 8,
                    end: .declared, packet: .riffChunk, losses: .webp))
        case .avif:
            FormatTraits(
                suffix: "avif", contentType: "image/avif", beginsWithVowel: true, loss: .byQuality, chroma: .byQuality,
                holdsAlpha: true, holdsFrames: false, holdsProfile: true, isOfCameras: false,
                // Effort, 0...9. At 640 px 1 takes 64 ms, 2 takes 125 for 1.5 % fewer bytes, 4 takes 694 for 1 % more.
                // 364 MiB for 10.1 Mpx, 485 for 15.9, with libaom's threads.
                output: OutputTraits(
                    encoder: .avif, sideLimit: 16_383, effort: 1, bytesPerPixel: 40,
                    end: .declared, packet: .byEncoder, losses: nil))
        case .gif:
            FormatTraits(
                suffix: "gif", contentType: "image/gif", loss: .always, chroma: .full, holdsAlpha: true,
                holdsFrames: true,
                holdsProfile: false, isOfCameras: false,
                // How hard colours are chosen, 1...10.
                output: OutputTraits(
                    encoder: .gif, sideLimit: 65_535, effort: 7, bytesPerPixel: 8, end: .declared,
                    packet: .extensionBlock, losses: nil))
        case .heic:
            FormatTraits(
                suffix: "heic", contentType: "image/heic", loss: .byQuality, chroma: .half, holdsAlpha: true,
                holdsFrames: false, holdsProfile: true, isOfCameras: true, output: nil)
        case .tiff:
            FormatTraits(
                suffix: "tiff", contentType: "image/tiff", loss: .none, chroma: .full, holdsAlpha: true,
                holdsFrames: false,
                holdsProfile: true, isOfCameras: false, output: nil)
        case .jxl:
            FormatTraits(
                suffix: "jxl", contentType: "image/jxl", loss: .byQuality, chroma: .half, holdsAlpha: true,
                holdsFrames: false, holdsProfile: true, isOfCameras: false, output: nil)
        case .svg:
            FormatTraits(
                suffix: "svg", contentType: "image/svg+xml", beginsWithVowel: true, loss: .always, chroma: .full,
                holdsAlpha: true, holdsFrames: false, holdsProfile: true, isOfCameras: false, output: nil)
        }
    }
}

/// A row of the table of formats. No field but the article has a default: a forgotten one does not compile.
struct FormatTraits {
    let suffix: StaticString
    let contentType: StaticString
    var beginsWithVowel = false
    let loss: Loss
    let chroma: Chroma
    let holdsAlpha: Bool
    let holdsFrames: Bool
    let holdsProfile: Bool
    let isOfCameras: Bool
    let output: OutputTraits?

    enum Loss { case none, always, byQuality }
    /// The resolution of colour in variants of the format.
    enum Chroma { case full, half, byQuality }
}

/// What variants of a format are made by, and what holds them to be what was asked for.
package struct OutputTraits: Sendable {
    package let encoder: Encoder
    /// Pixels a side that the format can hold.
    package let sideLimit: Int
    /// What its encoder may spend, on the encoder's own scale; on all lanes the same, so that what is made together of the same
    /// bytes is the same on each.
    package let effort: Int
    /// Memory for the pixels and the encoder.
    package let bytesPerPixel: Int
    package let end: End
    package let packet: PacketPlace
    /// The format whose rows of `LossTable` it goes by; nil: none was measured, so it neither is a donor nor has one.
    package let losses: ImageFormat?

    /// Who writes it: the encoders of both engines are chosen by this.
    package enum Encoder: Sendable, CaseIterable { case jpeg, png, webp, avif, gif }

    /// How the inspector knows where a file ends.
    package enum End: Sendable {
        /// Its header or its blocks say so (`PictureHeader.end`).
        case declared
        /// All of its scans are read for it.
        case scanned
    }

    /// How an XMP packet comes into a file.
    package enum PacketPlace: Sendable { case segment, textChunk, riffChunk, extensionBlock, byEncoder }
}
