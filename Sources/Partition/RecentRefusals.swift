internal import Canonical
internal import Failures
internal import HTTPCache
internal import VariantSpec

/// Sources that gave nothing to make pictures of: asked for again, they are answered from here for a while.
///
/// An answer tells of the URL that was asked. Other URLs of the same source (another signature, an alias of its host) may
/// have the picture, so they are asked themselves. The last URL that gave nothing is known of each source.
///
/// In memory alone: a restart forgets them, which costs a request each. Times are monotonic milliseconds.
struct RecentRefusals: Sendable {
    private struct Entry {
        /// Of the URL and of the specs a hash is kept: there may be thousands, of any length.
        let url: Int
        let note: FailureNote
        let until: Int64
        /// For how long it was remembered the last time.
        let wait: Int64
        let validators: CachePolicy?
        /// The variants that could not be made of its pixels; nil: none can be made.
        let specs: Set<Int>?
    }

    /// What is asked about, once it is not relied on any more.
    struct Refusal: Sendable {
        let note: FailureNote
        let validators: CachePolicy
    }

    private var entries: [SourceKey: Entry] = [:]

    static let limit = 4_096
    /// Variants of one source: as many as a job may want.
    private static let specs = 64
    /// Ten minutes, doubled each time up to a day.
    private static let first: Int64 = 600_000
    private static let longest: Int64 = 86_400_000

    /// Why nothing of what a job wants can be made.
    func note(of source: SourceKey, at url: SourceURL, for specs: [VariantSpec], at now: Int64) -> FailureNote? {
        guard let entry = entry(of: source, at: url), now < entry.until,
            entry.specs.map({ refused in specs.allSatisfy { refused.contains($0.hashValue) } }) ?? true
        else { return nil }
        return entry.note
    }

    /// What its origin may confirm: then nothing has to be fetched and looked at again.
    func refusal(of source: SourceKey, at url: SourceURL) -> Refusal? {
        guard let entry = entry(of: source, at: url), let validators = entry.validators else { return nil }
        return Refusal(note: entry.note, validators: validators)
    }

    private func entry(of source: SourceKey, at url: SourceURL) -> Entry? {
        guard !entries.isEmpty, let entry = entries[source], entry.url == url.hashValue else { return nil }
        return entry
    }

    /// Its picture is damaged where these variants show it: another one may show less.
    mutating func add(_ source: SourceKey, at url: SourceURL, _ note: FailureNote, for spec: VariantSpec, at now: Int64)
    {
        let known = entry(of: source, at: url).flatMap { now < $0.until ? $0.specs : nil } ?? []
        let specs = known.count < Self.specs ? known.union([spec.hashValue]) : [spec.hashValue]
        keep(
            Entry(
                url: url.hashValue, note: note, until: now + Self.first, wait: Self.first, validators: nil, specs: specs
            ),
            of: source, at: now)
    }

    mutating func add(
        _ source: SourceKey, at url: SourceURL, _ note: FailureNote, _ remembrance: Remembrance,
        validators: CachePolicy? = nil, at now: Int64
    ) {
        let wait =
            switch remembrance {
            case .gone: Self.longest
            // What was found to be so again soon after it was forgotten is not asked for as soon. Who asked before that tells
            // nothing of how long it may last.
            case .absent:
                entry(of: source, at: url).flatMap { entry in
                    if now < entry.until { return entry.wait }
                    return now - entry.until < entry.wait ? min(entry.wait * 2, Self.longest) : nil
                } ?? Self.first
            }
        keep(
            Entry(
                url: url.hashValue, note: note, until: now + wait, wait: wait,
                validators: validators.flatMap(Self.kept), specs: nil),
            of: source, at: now)
    }

    private mutating func keep(_ entry: Entry, of source: SourceKey, at now: Int64) {
        if entries.count >= Self.limit {
            entries = entries.filter { now < $0.value.until }
            if entries.count >= Self.limit { entries.removeAll(keepingCapacity: true) }
        }
        entries[source] = entry
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
