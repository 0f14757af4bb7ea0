/// How much of `render.memory` one renderer may have, and the decoder in it.
package enum RenderMemory {
    /// A renderer's heap is half of the setting, and never less than this.
    package static let leastHeap = 512 << 20
    /// A warm renderer's own heap, with what its encoders need for outputs of usual sizes.
    private static let reserve = 64 << 20
    private static let mebibyte = 1 << 20

    /// Bytes of heap that one renderer may have.
    package static func heap(_ setting: Int) -> Int { max(leastHeap, setting / 2) }

    /// Bytes that the decoder of one source may need, by estimate.
    package static func decoding(_ setting: Int) -> Int { min(setting, heap(setting) - reserve) }

    /// The smallest setting, in whole MiB, that lets a decoder need so many bytes.
    package static func setting(for bytes: Int) -> Int {
        let least = bytes <= decoding(leastHeap) ? max(bytes, 64 * mebibyte) : 2 * (bytes + reserve)
        return (least + mebibyte - 1) / mebibyte * mebibyte
    }

    /// As settings are written: `1GiB`, `1456MiB`; rounded up.
    package static func text(_ bytes: Int) -> String {
        let isGibibytes = bytes > 0 && bytes % (1 << 30) == 0
        return isGibibytes ? "\(bytes >> 30)GiB" : "\(bytes / mebibyte + (bytes % mebibyte > 0 ? 1 : 0))MiB"
    }
}
