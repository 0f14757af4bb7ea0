/// What happened, as a hash, and as lines where somebody reads them.
struct Trace {
    private(set) var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    /// Gets each line; nil: none is made.
    let print: ((String) -> Void)?

    mutating func note(_ word: StaticString, _ numbers: [Int64], at time: Int64, text: @autoclosure () -> String = "") {
        mix(UInt64(bitPattern: time))
        word.withUTF8Buffer { for byte in $0 { mix(UInt64(byte)) } }
        for number in numbers { mix(UInt64(bitPattern: number)) }
        guard let print else { return }
        let seconds = "\(time / 1_000_000).\(String(1_000_000 + time % 1_000_000).dropFirst())"
        print("\(seconds) \(word) \(numbers.map { String($0) }.joined(separator: " ")) \(text())")
    }

    mutating func mix(_ value: UInt64) { hash = (hash ^ value) &* 0x0000_0100_0000_01B3 }
}
