internal import CBrotli

/// How the bytes of a metadata block are compressed.
enum BlockCoding {
    case plain, zlib, brotli

    /// The first `count` bytes of a block, or fewer if it is shorter or cut; nil if it is damaged before.
    func prefix(_ count: Int, of block: ArraySlice<UInt8>) -> [UInt8]? {
        switch self {
        case .plain: Array(block.prefix(count))
        case .zlib: Inflate.prefix(count, ofZlib: block)
        case .brotli: Self.brotli(count, block)
        }
    }

    /// Decodes Brotli (RFC 7932). The library holds at most the window that a stream declares, 16 MiB, and its tables.
    private static func brotli(_ count: Int, _ block: ArraySlice<UInt8>) -> [UInt8]? {
        guard let decoder = BrotliDecoderCreateInstance(nil, nil, nil) else { return nil }
        defer { BrotliDecoderDestroyInstance(decoder) }
        var isDamaged = true
        let output = [UInt8](unsafeUninitializedCapacity: count) { buffer, written in
            var (left, next) = (count, buffer.baseAddress)
            isDamaged = block.withUnsafeBufferPointer { input in
                var (unread, place) = (input.count, input.baseAddress)
                return BrotliDecoderDecompressStream(decoder, &unread, &place, &left, &next, nil)
                    == BROTLI_DECODER_RESULT_ERROR
            }
            written = count - left
        }
        return isDamaged ? nil : output
    }
}
