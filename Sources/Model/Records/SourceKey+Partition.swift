package import Canonical
internal import Digest

extension SourceKey {
    /// The partition that owns the source: murmur2 of the key's 64 hex digits, as Java's default partitioner has it.
    package func partition(of count: Int) -> PartitionID {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 64) { digits in
            digest.writeHex(to: digits.baseAddress!)
            return PartitionID(Int32(Murmur2.partition(UnsafeBufferPointer(digits), of: count)))
        }
    }
}
