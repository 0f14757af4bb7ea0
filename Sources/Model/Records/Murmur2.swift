/// Kafka's murmur2, the hash by which Java's default partitioner (librdkafka's `murmur2_random`) assigns keys to
/// partitions.
///
/// It is part of the contract with producers: with another hash, one source gets two owners, and they fetch it twice.
/// Source: `org.apache.kafka.common.utils.Utils.murmur2`.
package enum Murmur2 {
    package static func hash(_ bytes: UnsafeBufferPointer<UInt8>) -> Int32 {
        let m: UInt32 = 0x5bd1_e995
        var h: UInt32 = 0x9747_b28c ^ UInt32(truncatingIfNeeded: bytes.count)
        let whole = bytes.count & ~3
        var i = 0
        while i < whole {
            var k = UInt32(bytes[i]) | UInt32(bytes[i + 1]) << 8 | UInt32(bytes[i + 2]) << 16 | UInt32(bytes[i + 3]) << 24
            k = k &* m
            k ^= k >> 24
            h = (h &* m) ^ (k &* m)
            i += 4
        }
        let rest = bytes.count - whole
        if rest >= 3 { h ^= UInt32(bytes[whole + 2]) << 16 }
        if rest >= 2 { h ^= UInt32(bytes[whole + 1]) << 8 }
        if rest >= 1 {
            h ^= UInt32(bytes[whole])
            h = h &* m
        }
        h ^= h >> 13
        h = h &* m
        h ^= h >> 15
        return Int32(bitPattern: h)
    }

    package static func partition(_ key: UnsafeBufferPointer<UInt8>, of count: Int) -> Int { Int(hash(key) & 0x7fff_ffff) % count }
}
