/// Shares of `render.memory` for one renderer, and for the decoder in it.
package enum RenderMemory {
    /// Smallest heap of a renderer. Its heap is half of the setting, but never less than this.
    package static let leastHeap = 512 << 20
    /// Heap that a warm renderer needs for itself, and for its encoders at usual output sizes.
    private static let reserve = 64 << 20
    private static let mebibyte = 1 << 20

    /// Heap of one renderer in bytes.
    package static func heap(_ setting: Int) -> Int { max(leastHeap, setting / 2) }

    /// Most bytes that the decoder of one source may need, by estimate.
    package static func decoding(_ setting: Int) -> Int { min(setting, heap(setting) - reserve) }

    /// Smallest setting, in whole MiB, that gives a decoder this many bytes.
    package static func setting(for bytes: Int) -> Int {
        let least = bytes <= decoding(leastHeap) ? max(bytes, 64 * mebibyte) : 2 * (bytes + reserve)
        return (least + mebibyte - 1) / mebibyte * mebibyte
    }

    /// Size as settings are written (`1GiB`, `1456MiB`), rounded up.
    package static func text(_ bytes: Int) -> String {
        let isGibibytes = bytes > 0 && bytes % (1 << 30) == 0
        return isGibibytes ? "\(bytes >> 30)GiB" : "\(bytes / mebibyte + (bytes % mebibyte > 0 ? 1 : 0))MiB"
    }
}
