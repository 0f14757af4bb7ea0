internal import CVips
internal import RenderKit
internal import VariantSpec

/// The duration of each frame of an animation, and how often it repeats.
struct Timing {
    /// Milliseconds.
    let delays: [Int32]
    /// Number of repetitions; 0: for ever.
    let loops: Int32
}

extension Raster {
    /// Shows a GIF's bare canvas as transparent: libvips shows it in colours if the file declares too little
    /// transparency.
    func bareShown(of bytes: UnsafeRawBufferPointer, frames: Int, isMoving: Bool) throws(RasterFailure) -> Raster {
        guard let changed = GIFContainer.bareShown(bytes, addsFrame: !hasAlpha, isMoving: isMoving) else { return self }
        return try changed.withUnsafeBufferPointer { bytes throws(RasterFailure) in
            try Raster.open(UnsafeRawBufferPointer(bytes), .gif, shrink: 1, frames: frames).inMemory()
        }
    }

    /// One of the frames that are stacked vertically.
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
