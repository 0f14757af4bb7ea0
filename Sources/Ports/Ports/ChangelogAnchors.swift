package import Records

/// Rows by which an index knows its changelog again: another changelog has other records at their offsets.
///
/// Compaction takes rows away once their key has a newer one, so several are kept: of each number of noughts that an offset
/// can end with in binary, the newest. They lie ever farther apart, over the last few thousand offsets.
package struct ChangelogAnchors: Sendable, Hashable {
    private var slots = [LogAnchor?](repeating: nil, count: Self.limit)

    package static let limit = 12

    package init() {}
    package init(_ anchors: some Sequence<LogAnchor>) { for anchor in anchors { note(anchor) } }

    package var isEmpty: Bool { slots.allSatisfy { $0 == nil } }
    /// The one that says most about the rows before it first.
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
