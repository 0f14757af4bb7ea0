/// The order of sources among jobs.
enum Spread: String, CaseIterable {
    /// Each source in turn.
    case cycle
    case uniform
    /// The n-th source with a chance in proportion to 1/n.
    case zipf

    /// The sources of the jobs; the same on each call.
    func sources(_ jobs: Int, of count: Int) -> [Int] {
        var state: UInt64 = 0x9e37_79b9_7f4a_7c15
        func chance() -> Double {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return Double(state >> 11) * 0x1p-53
        }
        switch self {
        case .cycle: return (0..<jobs).map { $0 % count }
        case .uniform: return (0..<jobs).map { _ in Int(chance() * Double(count)) }
        case .zipf:
            var sums: [Double] = []
            for n in 1...count { sums.append((sums.last ?? 0) + 1 / Double(n)) }
            return (0..<jobs).map { _ in
                let wanted = chance() * (sums.last ?? 0)
                var (low, high) = (0, count - 1)
                while low < high {
                    let middle = (low + high) / 2
                    if sums[middle] < wanted { low = middle + 1 } else { high = middle }
                }
                return low
            }
        }
    }
}
