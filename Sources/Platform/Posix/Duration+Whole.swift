extension Duration {
    /// Whole ones, as C's interfaces count.
    package var milliseconds: Int { Int(nanoseconds / 1_000_000) }
    package var nanoseconds: Int64 { components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000 }
}
