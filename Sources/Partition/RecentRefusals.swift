internal import Canonical
internal import Failures
internal import HTTPCache

/// Sources that gave nothing to make pictures of: asked for again, they are answered from here for a while.
///
/// In memory alone: a restart forgets them, which costs a request each. Times are monotonic milliseconds.
struct RecentRefusals: Sendable {
    private struct Entry {
        let note: FailureNote
        let until: Int64
        /// For how long it was remembered the last time.
        let wait: Int64
        let validators: CachePolicy?
    }

    /// What is asked about, once it is not relied on any more.
    struct Refusal: Sendable {
        let note: FailureNote
        let validators: CachePolicy
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

    /// What its origin may confirm: then nothing has to be fetched and looked at again.
    func refusal(of source: SourceKey) -> Refusal? {
        guard !entries.isEmpty, let entry = entries[source], let validators = entry.validators else { return nil }
        return Refusal(note: entry.note, validators: validators)
    }

    mutating func add(
        _ source: SourceKey, _ note: FailureNote, _ remembrance: Remembrance, validators: CachePolicy? = nil,
        at now: Int64
    ) {
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
        entries[source] = Entry(
            note: note, until: now + wait, wait: wait, validators: validators.flatMap(Self.kept))
    }

    mutating func forget(_ source: SourceKey) {
        if !entries.isEmpty { entries[source] = nil }
    }

    /// Its entity tag, if that is short: thousands are kept. A date is not enough: a picture that comes back with an older one
    /// would get a 304 for ever (RFC 9110, 13.1.3).
    private static func kept(_ policy: CachePolicy) -> CachePolicy? {
        guard let tag = policy.etag, tag.utf8.count + (policy.location?.utf8.count ?? 0) <= validatorBytes else {
            return nil
        }
        let kept = CachePolicy(etag: tag, location: policy.location)
        return kept.conditions.isEmpty ? nil : kept
    }
    private static let validatorBytes = 256
}
