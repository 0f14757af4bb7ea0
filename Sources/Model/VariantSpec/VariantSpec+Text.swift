extension VariantSpec: CustomStringConvertible {
    /// Canonical spelling: `640x480-q80.webp`, `160y160-q80-axis2_5-enlarge.jpg`, `640x0.png`, `full-q80.webp`.
    package var description: String {
        String(unsafeUninitializedCapacity: byteLimit) { write(to: $0.baseAddress!) }
    }
}
