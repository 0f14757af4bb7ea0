internal import Clocks
internal import Records

/// Outcomes of the last five minutes, by status, code and host, as far as `outcomes` was read.
///
/// Its size is limited: a number of keys in each five seconds, and an example of each key that failed.
struct RecentEnds: Sendable {
    static let span: Duration = .minutes(5)
    /// Window for new failures, which are not diluted by the calm before them.
    static let newSpan: Duration = .seconds(30)

    struct Key: Sendable, Hashable {
        let kind: OutcomeKind
        let code: String
        let host: String
    }

    /// Outcomes within a period.
    struct Tally: Sendable {
        private(set) var jobs = 0
        private(set) var bad: [Key: Int] = [:]
        private var byHost: [String: (jobs: Int, bad: Int)] = [:]
        /// Hosts that delivered a source.
        private(set) var sending: Set<String> = []

        fileprivate mutating func add(_ key: Key, _ count: Int) {
            jobs += count
            byHost[key.host, default: (0, 0)].jobs += count
            if key.kind.isSuccess {
                if key.kind == .stored { sending.insert(key.host) }
            } else {
                bad[key, default: 0] += count
                byHost[key.host, default: (0, 0)].bad += count
            }
        }

        func count(_ isWanted: (OutcomeKind) -> Bool) -> Int {
            bad.reduce(0) { $0 + (isWanted($1.key.kind) ? $1.value : 0) }
        }

        var failed: Int { count { $0 == .failed } }
        var dead: Int { count { $0 == .dead } }
        var expired: Int { count { $0 == .expired } }

        /// The host with the most jobs, all of which ended badly.
        func hopelessHost(of least: Int) -> (host: String, jobs: Int)? {
            byHost.filter { !$0.key.isEmpty && $0.value.jobs >= least && $0.value.bad == $0.value.jobs }
                .max { ($0.value.jobs, $1.key) < ($1.value.jobs, $0.key) }.map { ($0.key, $0.value.jobs) }
        }
    }

    private var slots: [WallTime: [Key: Int]] = [:]
    private var examples: [Key: JobEnd] = [:]
    private static let slot: Duration = .seconds(5)
    private static let limit = 500

    mutating func count(_ end: JobEnd, at now: WallTime) {
        guard end.at > now - Self.span else { return }
        // Clocks differ by a little.
        let begun = min(end.at, now).begun(Self.slot)
        var key = Key(kind: end.kind, code: end.code, host: end.host)
        if let slot = slots[begun], slot[key] == nil, slot.count >= Self.limit {
            key = Key(kind: end.kind, code: "other", host: "")
        }
        slots[begun, default: [:]][key, default: 0] += 1
        if !end.kind.isSuccess, examples[key] != nil || examples.count < Self.limit { examples[key] = end }
        let old = slots.filter { $0.key + Self.slot <= now - Self.span }
        guard !old.isEmpty else { return }
        for begun in old.keys { slots[begun] = nil }
        examples = examples.filter { $0.value.at > now - Self.span }
    }

    func tally(_ span: Duration, to now: WallTime) -> Tally {
        var tally = Tally()
        for (begun, slot) in slots where begun + Self.slot > now - span {
            for (key, count) in slot { tally.add(key, count) }
        }
        return tally
    }

    func example(of key: Key) -> JobEnd? { examples[key] }
}
