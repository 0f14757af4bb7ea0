package import Images
internal import VariantSpec

extension PictureFacts {
    /// A WebP of more pixels is decoded at a smaller scale if no output shows it: libvips holds eight bytes for each
    /// pixel of libwebp. The limit counts pixels rather than memory, so that a repeated job gives the same bytes.
    fileprivate static let wholeWebP = 16_000_000

    /// Most bytes for decoding at 1/`shrink` of the size: the coding's memory at any scale, rows in progress, and
    /// libwebp's pixels.
    package func decodeBytes(shrink: Int) -> Int {
        // 50 MiB for a PNG of 10,000 columns: the number of rows is the same at any height.
        let columns = orientation < 5 ? size.width : size.height
        let rows = min(size.times(8), columns * (6 << 10))
        return memory + rows + (format == .webp ? size.times(8) / (shrink * shrink) : 0)
    }

    /// Fewest bytes for decoding by any request.
    package var leastDecodeBytes: Int { decodeBytes(shrink: isScalableWebP ? RenderRequest.shrinks[0] : 1) }

    fileprivate var isScalableWebP: Bool { format == .webp && frames == 1 && size.pixels > Self.wholeWebP }
}

extension RenderRequest {
    package static let shrinks = [8, 4, 2]
    /// Most pixels of a decoded picture that are held for several outputs.
    package static let heldPixels = 48_000_000
    /// How much larger than an output a decode must be. 1.0 costs up to 17 points (SSIMULACRA2) on single pictures; 2.0
    /// gains 0.04 points for 40 % more CPU.
    private static let margin = 1.25
    /// libwebp averages blocks, which keeps less detail than libjpeg's scaled transform.
    private static let marginOfWebP = 2.0

    /// Scale of the source's decode: 1, 2, 4 or 8 times smaller than stored.
    package var shrink: Int {
        // Trimming may leave few pixels, so a trimmed picture is decoded in full.
        guard !isReuse, facts.format == .jpeg || facts.isScalableWebP, !outputs.contains(where: \.extras.isTrimmed)
        else {
            return 1
        }
        let margin = facts.format == .jpeg ? Self.margin : Self.marginOfWebP
        return Self.shrinks.first { shrink in
            outputs.allSatisfy { output in
                output.crop.width / Double(shrink) >= margin * Double(output.size.width)
                    && output.crop.height / Double(shrink) >= margin * Double(output.size.height)
            }
        } ?? 1
    }

    /// Whether the pixels of a decode may be held for several outputs: they are few, and fit in the smallest heap beside their
    /// decoder. The setting does not count, so that a repeated job gives the same bytes.
    package func mayHold(shrink: Int) -> Bool {
        let held = facts.size.times([.png, .tiff].contains(facts.format) ? 8 : 6) / (shrink * shrink)
        return facts.size.pixels / (shrink * shrink) <= Self.heldPixels
            && facts.decodeBytes(shrink: shrink) + held <= RenderMemory.decoding(RenderMemory.leastHeap)
    }

    /// Fewest bytes for decoding. If pixels decide size or crop, two copies with 8 bits are held: as stored and
    /// upright. Copies with more bits take up to twice as much, and the facts do not show the depth.
    package var leastBytes: Int {
        let isLookedAt = !isReuse && outputs.contains(where: \.isResolvedByPixels)
        return facts.decodeBytes(shrink: shrink) + (isLookedAt ? facts.size.times(8) / (shrink * shrink) : 0)
    }

    /// Bytes that a renderer may need for the request beyond its own: each format's worst case, measured.
    package var memoryEstimate: Int {
        let shrink = shrink
        // A decoder of an animation holds two frames; an animated output needs all of them.
        let frames = outputs.contains(where: \.isAnimated) ? facts.frames : min(facts.frames, 2)
        let moved = facts.frames > 1 ? facts.size.times(5 * frames) : 0
        // Pixels that several outputs use, or that decide size or crop, upright, too; 16 bits if the picture may have
        // them.
        let isResolved = outputs.contains(where: \.isResolvedByPixels)
        let isHeld = isResolved || outputs.count > 1 && mayHold(shrink: shrink)
        let bytes = [.png, .tiff].contains(facts.format) ? 8 : 4
        let held = isHeld ? facts.size.times(bytes * (isResolved ? 2 : 1)) / (shrink * shrink) : 0
        // Animated outputs are rendered one at a time.
        let moving = outputs.reduce(0) { $1.isAnimated ? max($0, $1.encodingBytes(frames: facts.frames)) : $0 }
        return facts.decodeBytes(shrink: shrink) + moved + held
            + outputs.reduce(moving) { $1.isAnimated ? $0 : $0 + $1.encodingBytes() }
    }
}

extension RenderOutput {
    /// Bytes for its pixels and its encoder.
    fileprivate func encodingBytes(frames: Int = 1) -> Int {
        finishedSize.times((format.output?.bytesPerPixel ?? 8) * frames)
    }
}
