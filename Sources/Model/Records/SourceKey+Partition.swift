package import Canonical
internal import Digest

extension SourceKey {
    /// Partition that owns the source: murmur2 of the key's 64 hexadecimal digits, as in Java's default partitioner.
    package func partition(of count: Int) -> PartitionID {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 64) { digits in
            digest.writeHex(to: digits.baseAddress!)
            return PartitionID(Int32(Murmur2.partition(UnsafeBufferPointer(digits), of: count)))
        }
    }
}
