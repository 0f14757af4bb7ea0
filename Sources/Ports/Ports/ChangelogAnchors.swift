package import Records

/// Fingerprint of a changelog: rows by which an index recognises its changelog. Another changelog has other records at
/// their offsets.
///
/// Compaction removes a row once its key has a newer one, so several are kept: for each number of zeros at the binary
/// end of an offset, the newest row. Their distances grow, over the last few thousand offsets.
package struct ChangelogAnchors: Sendable, Hashable {
    private var slots = [LogAnchor?](repeating: nil, count: Self.limit)

    package static let limit = 12

    package init() {}
    package init(_ anchors: some Sequence<LogAnchor>) { for anchor in anchors { note(anchor) } }

    package var isEmpty: Bool { slots.allSatisfy { $0 == nil } }
    /// Anchors from the newest, which covers the most rows before it, to the oldest.
    package var newestFirst: [LogAnchor] { slots.compactMap(\.self).sorted { $0.offset > $1.offset } }

    package mutating func note(_ anchor: LogAnchor) {
        let slot = min(anchor.offset.trailingZeroBitCount, Self.limit - 1)
        if anchor.offset >= slots[slot]?.offset ?? 0 { slots[slot] = anchor }
    }

    package func noting(_ later: ChangelogAnchors) -> ChangelogAnchors {
        var all = self
        for case let anchor? in later.slots { all.note(anchor) }
        return all
    }
}
