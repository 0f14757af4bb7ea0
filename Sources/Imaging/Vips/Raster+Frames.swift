internal import CVips
internal import RenderKit
internal import VariantSpec

/// How long each frame of a picture that moves is shown, and how often all of them are.
struct Timing {
    /// Milliseconds.
    let delays: [Int32]
    /// 0: for ever.
    let loops: Int32
}

extension Raster {
    /// A GIF whose bare canvas is clear: libvips shows it in colours where the file says too little of transparency.
    func bareShown(of bytes: UnsafeRawBufferPointer, frames: Int, isMoving: Bool) throws(RasterFailure) -> Raster {
        guard let changed = GIFContainer.bareShown(bytes, addsFrame: !hasAlpha, isMoving: isMoving) else { return self }
        return try changed.withUnsafeBufferPointer { bytes throws(RasterFailure) in
            try Raster.open(UnsafeRawBufferPointer(bytes), .gif, shrink: 1, frames: frames).inMemory()
        }
    }

    /// One of the frames that stand one below the other.
    func frame(_ number: Int, of size: PixelSize) throws(RasterFailure) -> Raster {
        try cropped(x: 0, y: number * size.height, size).inMemory()
    }

    static func stacked(_ frames: [Raster], _ timing: Timing) throws(RasterFailure) -> Raster {
        let stack = try joined(frames).withoutMetadata(keepsProfile: false)
        let delays = (0..<frames.count).map { timing.delays.indices.contains($0) ? timing.delays[$0] : 100 }
        stack.setFrames(height: frames[0].size.height, delays: delays, loops: timing.loops)
        return stack
    }
}
