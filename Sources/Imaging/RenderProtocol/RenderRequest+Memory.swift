package import Images
internal import VariantSpec

extension PictureFacts {
    /// A WebP of more pixels is decoded smaller where that does not show: libvips holds eight bytes of each pixel that libwebp
    /// gives it. By pixels and not by memory, so that a replay gives the same bytes.
    fileprivate static let wholeWebP = 16_000_000

    /// Bytes that decoding it takes at most, at a `shrink`-th of its size: what its coding holds at any scale, rows on their way,
    /// and the pixels that libwebp gives.
    package func decodeBytes(shrink: Int) -> Int {
        // 50 MiB of a PNG of 10,000 columns: rows are as many however high it is.
        let columns = orientation < 5 ? size.width : size.height
        let rows = min(size.times(8), columns * (6 << 10))
        return memory + rows + (format == .webp ? size.times(8) / (shrink * shrink) : 0)
    }

    /// What no request can have it take less than.
    package var leastDecodeBytes: Int { decodeBytes(shrink: isScalableWebP ? RenderRequest.shrinks[0] : 1) }

    fileprivate var isScalableWebP: Bool { format == .webp && frames == 1 && size.pixels > Self.wholeWebP }
}

extension RenderRequest {
    package static let shrinks = [8, 4, 2]
    /// Of a decoded picture; more are not held for several outputs.
    package static let heldPixels = 48_000_000
    /// What a decode must leave above an output. 1.0 costs up to 17 points (SSIMULACRA2) on single pictures, 2.0 wins
    /// 0.04 points for 40 % more CPU.
    private static let margin = 1.25
    /// libwebp takes means of blocks, which leave less than libjpeg's scaled transform.
    private static let marginOfWebP = 2.0

    /// How many times smaller than stored the source is decoded: 1, 2, 4 or 8.
    package var shrink: Int {
        // What is left once edges are trimmed may be small: nothing of it is given away.
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

    /// Bytes of the least that decoding it takes, with the two copies that are held of pixels that are looked at first: as stored
    /// and upright, of 8 bits. Deeper ones take up to twice as much; the facts do not tell which these are.
    package var leastBytes: Int {
        let isLookedAt = !isReuse && outputs.contains(where: \.isResolvedByPixels)
        return facts.decodeBytes(shrink: shrink) + (isLookedAt ? facts.size.times(8) / (shrink * shrink) : 0)
    }

    /// Bytes that a child may need for it beyond what it has: each format's worst, measured.
    package var memoryEstimate: Int {
        let shrink = shrink
        // A decoder of what moves holds two frames; to come out moving, all of them are held.
        let frames = outputs.contains(where: \.isAnimated) ? facts.frames : min(facts.frames, 2)
        let moved = facts.frames > 1 ? facts.size.times(5 * frames) : 0
        // Pixels that more than one output is made from, or that are looked at first, upright, too. 16 bits where there may be.
        let isResolved = outputs.contains(where: \.isResolvedByPixels)
        let decoded = facts.size.pixels / (shrink * shrink)
        let isHeld = isResolved || outputs.count > 1 && decoded <= Self.heldPixels
        let bytes = [.png, .tiff].contains(facts.format) ? 8 : 4
        let held = isHeld ? facts.size.times(bytes * (isResolved ? 2 : 1)) / (shrink * shrink) : 0
        // Those that move are made one at a time.
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
