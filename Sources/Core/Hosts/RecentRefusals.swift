package import Canonical
package import Clocks
package import Failures
package import HTTPCache
package import ImageModel
package import VariantSpec

/// Sources that gave no usable image. Repeated requests get the same failure from here for a while.
///
/// A refusal is about the URL that was fetched. Other URLs of the same source (another signature, an alias of its host)
/// may have the image, so they are fetched.
///
/// Refusals are kept in memory alone. A restart forgets them, which costs one request each.
package struct RecentRefusals: Sendable {
    /// Hashes stand for URLs and specs, because there may be thousands, of any length.
    private struct Key: Hashable {
        let source: SourceKey
        let url: Int

        init(_ source: SourceKey, _ url: SourceURL) { (self.source, self.url) = (source, url.hashValue) }
    }

    private struct Entry {
        let note: FailureNote
        let until: Instant
        /// How long the refusal is remembered. It decides the length of the next.
        let wait: Duration
        let validators: CachePolicy?
        /// nil: no variant can be rendered.
        let damage: Damage?
    }

    /// Variants that could not be rendered because the image data is damaged.
    private struct Damage {
        let version: SourceVersion
        /// Variants of one decode that failed, and the time until which that is remembered. Stills share a decode, so a
        /// job that wants a whole failed set fails. Animations have a decode each, so a job that also wants other
        /// variants gets those.
        var sets: [(specs: Set<Int>, isMoving: Bool, until: Instant)]

        func refuses(_ wanted: Set<Int>, at now: Instant) -> Bool {
            let known = sets.filter { now < $0.until }
            return known.contains { !$0.isMoving && $0.specs.isSubset(of: wanted) }
                || wanted.subtracting(known.filter(\.isMoving).flatMap(\.specs)).isEmpty
        }
    }

    /// A refusal for the origin to confirm, once it is too old to count by itself.
    package struct Refusal: Sendable {
        package let note: FailureNote
        package let validators: CachePolicy
    }

    private var entries: [Key: Entry] = [:]

    package init() {}

    static let limit = 4_096
    /// Maximum variants in the sets of one URL: twice as many as a job may want.
    private static let specs = 128
    /// Ten minutes, doubled each time up to a day.
    private static let first = Duration.minutes(10)
    private static let longest = Duration.days(1)

    /// Reason why none of a job's missing variants can be rendered.
    ///
    /// - Parameter kept: version of the kept original that the variants would be rendered from; nil if they need a
    ///   fetch.
    package func note(
        of source: SourceKey, at url: SourceURL, for specs: [VariantSpec], kept: SourceVersion? = nil, at now: Instant
    ) -> FailureNote? {
        guard !specs.isEmpty, let entry = entry(of: source, at: url), now < entry.until else { return nil }
        guard let damage = entry.damage else { return kept == nil ? entry.note : nil }
        guard kept == nil || kept == damage.version else { return nil }
        return damage.refuses(Self.hashes(specs), at: now) ? entry.note : nil
    }

    /// Refusal that the origin may confirm, so that nothing is fetched and examined again.
    package func refusal(of source: SourceKey, at url: SourceURL) -> Refusal? {
        guard let entry = entry(of: source, at: url), let validators = entry.validators else { return nil }
        return Refusal(note: entry.note, validators: validators)
    }

    private func entry(of source: SourceKey, at url: SourceURL) -> Entry? {
        entries.isEmpty ? nil : entries[Key(source, url)]
    }

    private static func hashes(_ specs: some Sequence<VariantSpec>) -> Set<Int> { Set(specs.map(\.hashValue)) }

    /// Remembers that the image is damaged in the area of these variants, all of one decode. Other variants may use
    /// less of the image.
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
            // A refusal that was confirmed soon after its end is remembered twice as long. A request before its end
            // shows nothing about how long it may last.
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

    /// Forgets the refusal, because the URL gave an image. A damaged version stays remembered if it came again.
    package mutating func forget(_ source: SourceKey, at url: SourceURL, giving version: SourceVersion) {
        guard let entry = entry(of: source, at: url), entry.damage?.version != version else { return }
        entries[Key(source, url)] = nil
    }

    /// Entity tag of the response, if it is short, because thousands are kept. A date is not enough: an image that
    /// returns with an older date would get a 304 for ever (RFC 9110, 13.1.3).
    private static func kept(_ policy: CachePolicy) -> CachePolicy? {
        guard let tag = policy.etag, tag.utf8.count + (policy.location?.utf8.count ?? 0) <= validatorBytes else {
            return nil
        }
        let kept = CachePolicy(etag: tag, location: policy.location)
        return kept.conditions.isEmpty ? nil : kept
    }
    private static let validatorBytes = 256
}
