extension ImageFormat {
    /// Row of the one table of formats. To add an output format, give its row an `output`, and write its encoder.
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
                // Effort is libvips's compression level, 0...9; the direct path has its own. Memory holds rows, their
                // filtered copies and zlib's output.
                output: OutputTraits(
                    encoder: .png, sideLimit: 65_535, effort: 6, bytesPerPixel: 12, end: .declared,
                    packet: .textChunk, losses: .png))
        case .webp:
            FormatTraits(
                suffix: "webp", contentType: "image/webp", loss: .byQuality, chroma: .half, holdsAlpha: true,
                holdsFrames: true, holdsProfile: true, isOfCameras: false,
                // Effort is the method, 0...6. Method 2 takes 40 % less CPU than 4 for 3 % more bytes at the same
                // score; 3 costs like 4.
                output: OutputTraits(
                    encoder: .webp, sideLimit: 16_383, effort: 2, bytesPerPixel: 8,
                    end: .declared, packet: .riffChunk, losses: .webp))
        case .avif:
            FormatTraits(
                suffix: "avif", contentType: "image/avif", beginsWithVowel: true, loss: .byQuality, chroma: .byQuality,
                holdsAlpha: true, holdsFrames: false, holdsProfile: true, isOfCameras: false,
                // Effort, 0...9. At 640 px, 1 takes 64 ms, 2 takes 125 ms for 1.5 % fewer bytes, and 4 takes 694 ms for
                // 1 % more. Memory with libaom's threads: 364 MiB for 10.1 megapixels, 485 MiB for 15.9.
                output: OutputTraits(
                    encoder: .avif, sideLimit: 16_383, effort: 1, bytesPerPixel: 40,
                    end: .declared, packet: .byEncoder, losses: nil))
        case .gif:
            FormatTraits(
                suffix: "gif", contentType: "image/gif", loss: .always, chroma: .full, holdsAlpha: true,
                holdsFrames: true,
                holdsProfile: false, isOfCameras: false,
                // Effort of the choice of colours, 1...10.
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

/// One row of the table of formats. Only the article has a default, so that a forgotten field does not compile.
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
    /// Resolution of colour in variants of the format.
    enum Chroma { case full, half, byQuality }
}

/// Encoder of a format's variants, and the limits that it is held to.
package struct OutputTraits: Sendable {
    package let encoder: Encoder
    /// Longest side that the format can hold, in pixels.
    package let sideLimit: Int
    /// Effort of the encoder, on the encoder's own scale. All lanes use the same effort, so that the same
    /// order for the same bytes gives the same variant on each lane.
    package let effort: Int
    /// Memory for the pixels and the encoder, in bytes for each pixel.
    package let bytesPerPixel: Int
    package let end: End
    package let packet: PacketPlace
    /// Format whose rows of `LossTable` apply. nil: no losses were measured, so a variant of this format neither is a
    /// donor nor has one.
    package let losses: ImageFormat?

    /// Encoder that writes the format; both engines choose theirs by it.
    package enum Encoder: Sendable, CaseIterable { case jpeg, png, webp, avif, gif }

    /// Means by which the inspector finds the end of a file.
    package enum End: Sendable {
        /// The header or the blocks declare it (`PictureHeader.end`).
        case declared
        /// The inspector reads all scans to find it.
        case scanned
    }

    /// Part of a file that holds an XMP packet.
    package enum PacketPlace: Sendable { case segment, textChunk, riffChunk, extensionBlock, byEncoder }
}
