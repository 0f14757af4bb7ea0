package import Canonical
package import Clocks
package import Failures
package import HTTPCache
package import ImageModel
package import VariantSpec

/// Sources that gave nothing to make pictures of: asked for again, they are answered from here for a while.
///
/// An answer tells of the URL that was asked. Other URLs of the same source (another signature, an alias of its host) may
/// have the picture, so they are asked themselves.
///
/// In memory alone: a restart forgets them, which costs a request each.
package struct RecentRefusals: Sendable {
    /// Of URLs and specs a hash is kept: there may be thousands, of any length.
    private struct Key: Hashable {
        let source: SourceKey
        let url: Int

        init(_ source: SourceKey, _ url: SourceURL) { (self.source, self.url) = (source, url.hashValue) }
    }

    private struct Entry {
        let note: FailureNote
        let until: Instant
        /// For how long it was remembered the last time.
        let wait: Duration
        let validators: CachePolicy?
        /// nil: nothing can be made.
        let damage: Damage?
    }

    /// What could not be made of a picture's pixels.
    private struct Damage {
        let version: SourceVersion
        /// Variants of one decode that failed, and until when the failure is remembered. Stills share a decode: a job that
        /// wants a whole set fails. Moving variants have a decode of their own: a job that wants others, too, gets these.
        var sets: [(specs: Set<Int>, isMoving: Bool, until: Instant)]

        func refuses(_ wanted: Set<Int>, at now: Instant) -> Bool {
            let known = sets.filter { now < $0.until }
            return known.contains { !$0.isMoving && $0.specs.isSubset(of: wanted) }
                || wanted.subtracting(known.filter(\.isMoving).flatMap(\.specs)).isEmpty
        }
    }

    /// What is asked about, once it is not relied on any more.
    package struct Refusal: Sendable {
        package let note: FailureNote
        package let validators: CachePolicy
    }

    private var entries: [Key: Entry] = [:]

    package init() {}

    static let limit = 4_096
    /// Variants in the sets of one URL: as many as a job may want, and once more.
    private static let specs = 128
    /// Ten minutes, doubled each time up to a day.
    private static let first = Duration.minutes(10)
    private static let longest = Duration.days(1)

    /// Why nothing of what a job lacks can be made.
    ///
    /// - Parameter kept: the version of the kept original that the variants would be made of; nil if they need a fetch.
    package func note(
        of source: SourceKey, at url: SourceURL, for specs: [VariantSpec], kept: SourceVersion? = nil, at now: Instant
    ) -> FailureNote? {
        guard !specs.isEmpty, let entry = entry(of: source, at: url), now < entry.until else { return nil }
        guard let damage = entry.damage else { return kept == nil ? entry.note : nil }
        guard kept == nil || kept == damage.version else { return nil }
        return damage.refuses(Self.hashes(specs), at: now) ? entry.note : nil
    }

    /// What its origin may confirm: then nothing has to be fetched and looked at again.
    package func refusal(of source: SourceKey, at url: SourceURL) -> Refusal? {
        guard let entry = entry(of: source, at: url), let validators = entry.validators else { return nil }
        return Refusal(note: entry.note, validators: validators)
    }

    private func entry(of source: SourceKey, at url: SourceURL) -> Entry? {
        entries.isEmpty ? nil : entries[Key(source, url)]
    }

    private static func hashes(_ specs: some Sequence<VariantSpec>) -> Set<Int> { Set(specs.map(\.hashValue)) }

    /// Its picture is damaged where these variants show it, all of one decode: others may show less.
    package mutating func add(
        _ source: SourceKey, at url: SourceURL, giving version: SourceVersion, _ note: FailureNote,
        together specs: [VariantSpec], isMoving: Bool, at now: Instant
    ) {
        let (new, until) = (Self.hashes(specs), now + Self.first)
        guard new.count <= Self.specs else { return }
        let known = entry(of: source, at: url)?.damage.flatMap { $0.version == version ? $0.sets : nil } ?? []
        var sets = known.filter { now < $0.until && $0.specs != new }
        while sets.reduce(new.count, { $0 + $1.specs.count }) > Self.specs { sets.removeFirst() }
        sets.append((new, isMoving, until))
        keep(
            Entry(
                note: note, until: until, wait: Self.first, validators: nil,
                damage: Damage(version: version, sets: sets)),
            of: Key(source, url), at: now)
    }

    package mutating func add(
        _ source: SourceKey, at url: SourceURL, _ note: FailureNote, _ remembrance: Remembrance,
        validators: CachePolicy? = nil, at now: Instant
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
                note: note, until: now + wait, wait: wait, validators: validators.flatMap(Self.kept), damage: nil),
            of: Key(source, url), at: now)
    }

    private mutating func keep(_ entry: Entry, of key: Key, at now: Instant) {
        if entries.count >= Self.limit {
            entries = entries.filter { now < $0.value.until }
            if entries.count >= Self.limit { entries.removeAll(keepingCapacity: true) }
        }
        entries[key] = entry
    }

    /// The URL gave a picture. If it is the one that is known to be damaged, that stays remembered.
    package mutating func forget(_ source: SourceKey, at url: SourceURL, giving version: SourceVersion) {
        guard let entry = entry(of: source, at: url), entry.damage?.version != version else { return }
        entries[Key(source, url)] = nil
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
