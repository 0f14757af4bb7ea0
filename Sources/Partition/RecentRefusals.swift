internal import Canonical
internal import Failures

/// Sources that gave nothing to make pictures of: asked for again, they are answered from here for a while.
///
/// In memory alone: a restart forgets them, which costs a request each. Times are monotonic milliseconds.
struct RecentRefusals: Sendable {
    private struct Entry {
        let note: FailureNote
        let until: Int64
        /// For how long it was remembered the last time.
        let wait: Int64
    }

    private var entries: [SourceKey: Entry] = [:]

    static let limit = 4_096
    /// Ten minutes, doubled each time up to a day.
    private static let first: Int64 = 600_000
    private static let longest: Int64 = 86_400_000

    func note(of source: SourceKey, at now: Int64) -> FailureNote? {
        guard !entries.isEmpty, let entry = entries[source], now < entry.until else { return nil }
        return entry.note
    }

    mutating func add(_ source: SourceKey, _ note: FailureNote, _ remembrance: Remembrance, at now: Int64) {
        let wait =
            switch remembrance {
            case .gone: Self.longest
            // What was found to be so again soon after it was forgotten is not asked for as soon. Who asked before that tells
            // nothing of how long it may last.
            case .absent:
                entries[source].flatMap { entry in
                    if now < entry.until { return entry.wait }
                    return now - entry.until < entry.wait ? min(entry.wait * 2, Self.longest) : nil
                } ?? Self.first
            }
        if entries.count >= Self.limit {
            entries = entries.filter { now < $0.value.until }
            if entries.count >= Self.limit { entries.removeAll(keepingCapacity: true) }
        }
        entries[source] = Entry(note: note, until: now + wait, wait: wait)
    }

    mutating func forget(_ source: SourceKey) {
        if !entries.isEmpty { entries[source] = nil }
    }
}
