package import Records

/// Fingerprint of a changelog: rows by which an index recognises its changelog. Another changelog has other records at
/// their offsets.
///
/// Compaction removes a row once its key has a newer one, so several are kept: for each number of zeros at the binary
/// end of an offset, the newest row. Their distances grow, over the last few thousand offsets.
package struct ChangelogFingerprints: Sendable, Hashable {
    private var slots = [RecordFingerprint?](repeating: nil, count: Self.limit)

    package static let limit = 12

    package init() {}
    package init(_ fingerprints: some Sequence<RecordFingerprint>) { for fingerprint in fingerprints { note(fingerprint) } }

    package var isEmpty: Bool { slots.allSatisfy { $0 == nil } }
    /// Fingerprints from the newest, which covers the most rows before it, to the oldest.
    package var newestFirst: [RecordFingerprint] { slots.compactMap(\.self).sorted { $0.offset > $1.offset } }

    package mutating func note(_ fingerprint: RecordFingerprint) {
        let slot = min(fingerprint.offset.trailingZeroBitCount, Self.limit - 1)
        if fingerprint.offset >= slots[slot]?.offset ?? 0 { slots[slot] = fingerprint }
    }

    package func noting(_ later: ChangelogFingerprints) -> ChangelogFingerprints {
        var all = self
        for case let fingerprint? in later.slots { all.note(fingerprint) }
        return all
    }
}
