internal import VariantSpec

/// Query split at `&` only, with escapes in canonical spelling.
///
/// `k`, `k=`, `+`, `%20` and `%2B` stay distinct, because servers disagree about which of them are equal.
struct URLQuery {
    struct Pair {
        /// Range in the received bytes.
        let received: Range<Int>
        /// Range in `canonical`.
        let canonical: Range<Int>
    }

    private(set) var canonical: [UInt8] = []
    private(set) var pairs: [Pair] = []

    init(_ received: [UInt8], _ range: Range<Int>) throws(URLFault) {
        canonical.reserveCapacity(range.count)
        var start = range.lowerBound
        while true {
            var end = start
            while end < range.upperBound, received[end] != Byte.ampersand { end += 1 }
            let at = canonical.count
            try Escapes.appendCanonical(received, start..<end, to: &canonical)
            pairs.append(Pair(received: start..<end, canonical: at..<canonical.count))
            guard end < range.upperBound else { return }
            canonical.append(Byte.ampersand)
            start = end + 1
        }
    }

    func text(_ pair: Pair) -> ArraySlice<UInt8> { canonical[pair.canonical] }

    /// Name of a pair: the text before the first `=`.
    func name(_ pair: Pair) -> ArraySlice<UInt8> {
        canonical[pair.canonical.lowerBound..<(equals(in: pair) ?? pair.canonical.upperBound)]
    }

    /// Value of a pair: the text after the first `=`; nil if there is none.
    func value(_ pair: Pair) -> ArraySlice<UInt8>? {
        equals(in: pair).map { canonical[$0 + 1..<pair.canonical.upperBound] }
    }

    private func equals(in pair: Pair) -> Int? { canonical[pair.canonical].firstIndex(of: Byte.equals) }
}
