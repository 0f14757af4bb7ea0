package import Canonical
package import KafkaSetup
internal import SettingTypes

extension Settings {
    /// Treatment of hosts: of all, and of groups.
    package struct Origins: Sendable, Equatable {
        package var concurrency = 6
        package var breaker = Breaker()
        package var backoff = Duration.seconds(60)
        package var freshness = Freshness()
        package var staleIfError = Duration.seconds(7 * 86_400)
        package var staleWhileRevalidate = Duration.zero
        /// Groups in the order in which they were named.
        package var groups: [Group] = []

        package struct Breaker: Sendable, Equatable {
            package var failures = 5
            package var pause = Duration.seconds(30)
        }

        package struct Freshness: Sendable, Equatable {
            package var floor = Duration.zero
            package var ceiling = Duration.seconds(30 * 86_400)
        }

        /// Settings of `origins.NAME`; 0 where a value is not set.
        package struct Group: Sendable, Equatable {
            package let name: String
            package var hosts: [String] = []
            package var concurrency = 0
            package var rate = 0.0
            package var bytesPerSecond = 0
            package var attempts = 0
            package var freshness = Freshness(floor: .zero, ceiling: .zero)
            package var headers: [OriginHeader] = []
        }

        subscript(name: String) -> Group {
            get { groups.first { $0.name == name } ?? Group(name: name) }
            set {
                if let place = groups.firstIndex(where: { $0.name == name }) {
                    groups[place] = newValue
                } else {
                    groups.append(newValue)
                }
            }
        }
    }

    /// Freshness of a group: its own values, and those of all hosts where it sets none.
    package func freshness(of group: Origins.Group) -> Origins.Freshness {
        var freshness = origins.freshness
        if group.freshness.floor > .zero { freshness.floor = group.freshness.floor }
        if group.freshness.ceiling > .zero { freshness.ceiling = group.freshness.ceiling }
        return freshness
    }

    /// The groups in the form that matches URLs.
    package var originGroups: [OriginGroup] {
        origins.groups.compactMap { try? OriginGroup(name: $0.name, hosts: $0.hosts, hasHeaders: !$0.headers.isEmpty) }
    }

    static let originKeys: [SettingKey] = [
        SettingKey(
            "origins.concurrency", \.origins.concurrency, .whole(1...1024),
            "Concurrent fetches from one host (scheme, name and port), over all workers; every worker needs the same value (kafka.md lists the exceptions). Each worker has a part of it. It begins with at most two, adds one after each round of good responses, and halves after a failure. Slow jobs use a third of each worker's part, and at least one. No host uses more than half of fetch.concurrency."
        ),
        SettingKey(
            "origins.breaker.failures", \.origins.breaker.failures, .whole(0...1000),
            "Consecutive failures (5xx, a name without an address, no connection, a timeout) that open a host's circuit; so does a failure rate of half over its last 20 responses. It stays open for origins.breaker.pause. Then one job probes the host. The host's other jobs are parked without using an attempt. If a job fails again after the host has responded to others, its URL may be the cause. Its failure then counts only if three quarters of those responses are failures and none was good for a minute. 0: never opens."
        ),
        SettingKey(
            "origins.breaker.pause", \.origins.breaker.pause, .duration(.milliseconds(1) ... .seconds(600)),
            "First pause of a host with an open circuit. Each later pause is longer by the first one, up to ten minutes or twenty times this value, whichever is less. Probes by jobs that failed before do not lengthen it. Half an hour without failures, or twenty good responses, resets it."
        ),
        SettingKey(
            "origins.backoff", \.origins.backoff, .duration(.zero ... .seconds(86_400)),
            "First pause of a host after a 429 without Retry-After, or after failures of which the last is a 503 without one. It doubles each time, up to a day. With a Retry-After, on any 5xx too, the host is throttled for that time, at most a day. A Retry-After below 30 s on a 5xx other than 503 counts as a failure, too, and throttles only the worker that received it. 0ms: such responses count as failures only."
        ),
        SettingKey(
            "origins.freshness.floor", \.origins.freshness.floor, .duration(.zero ... .seconds(3650 * 86_400)),
            "Minimum time before a source is fetched again, even if its origin declares less; no-store and no-cache still apply. The time is lengthened by up to a tenth, so that sources stored together are not fetched together."
        ),
        SettingKey(
            "origins.freshness.ceiling", \.origins.freshness.ceiling,
            .duration(.seconds(1) ... .seconds(3650 * 86_400)),
            "Maximum time for which a source is fresh. Its origin declares the time (Cache-Control, Expires, or a tenth of the time since Last-Modified, up to three days); otherwise store.maxAge applies. Times that the origin did not declare are shortened by up to a tenth, by the source, so that sources stored together do not expire together."
        ),
        SettingKey(
            "origins.staleWhileRevalidate", \.origins.staleWhileRevalidate,
            .duration(.zero ... .seconds(3650 * 86_400)),
            "How long stale variants complete jobs at once while the source is revalidated on the slow lane. An origin's own stale-while-revalidate overrides it; must-revalidate and no-cache forbid it. 0s: jobs wait for the response. That is the default because HTTP lets only the origin allow it (RFC 9111, 4.2.4). 1h suits your own origins."
        ),
        SettingKey(
            "origins.staleIfError", \.origins.staleIfError, .duration(.zero ... .seconds(3650 * 86_400)),
            "How long stale variants complete jobs while the origin fails. An origin's own stale-if-error overrides it; must-revalidate and no-cache forbid it."
        ),
    ]

    /// The settings of one group of hosts.
    static func groupKeys(_ group: String) -> [SettingKey] {
        [
            SettingKey(
                group, "hosts", \.hosts,
                .list(of: "host names and *.example.com (every name below it)", { $0.isEmpty ? nil : $0 }),
                "Hosts of the group, at any port. The group is treated as one host."),
            SettingKey(
                group, "concurrency", \.concurrency, .whole(0...1024),
                "Concurrent fetches from the whole group, over all workers. It begins with a quarter of this, and uses at most half of fetch.concurrency in one worker. 0: origins.concurrency."
            ),
            SettingKey(
                group, "rate", \.rate, .rate, "Maximum rate of new fetches, such as 200/s or 30/m. 0: no limit."),
            SettingKey(
                group, "bytesPerSecond", \.bytesPerSecond, .size(0...1 << 40),
                "Average download rate of bodies, in bytes a second. 0B: no limit."),
            SettingKey(
                group, "attempts", \.attempts, .whole(0...1000),
                "Attempts for a job whose host fails. 0: retries continue until retry.retryFor."),
            SettingKey(
                group, "freshness.floor", \.freshness.floor, .duration(.zero ... .seconds(3650 * 86_400)),
                "origins.freshness.floor for the group. 0s: the value of that setting."),
            SettingKey(
                group, "freshness.ceiling", \.freshness.ceiling, .duration(.zero ... .seconds(3650 * 86_400)),
                "origins.freshness.ceiling for the group. 0s: the value of that setting."),
            SettingKey(
                group, "headers", \.headers, .originHeaders,
                "Additional request headers for the group's hosts: a value, or file:PATH or environment:NAME to read it from. No other hosts receive them. The group's name then becomes part of its source keys, so publishers need the same settings. The headers are sent to every port of the hosts, also over http: set no secret here unless you trust these hosts and the network."
            ),
        ]
    }

    /// Finds a setting by name: in the table, or of a group of hosts (`origins.cdn.hosts`).
    static func key(_ name: String) -> SettingKey? {
        if let key = keys.first(where: { $0.name == name }) { return key }
        guard let group = groupName(in: name) else { return nil }
        return groupKeys(group).first { $0.name == name }
    }

    /// Group in a name: `cdn` in `origins.cdn` and `origins.cdn.hosts`; nil if the table has that name.
    static func groupName(in name: String) -> String? {
        let parts = name.split(separator: ".", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count > 1, parts[0] == "origins", (1...64).contains(parts[1].utf8.count),
            parts[1].utf8.allSatisfy({ SettingName.has($0) }),
            !keys.contains(where: { $0.name == "origins.\(parts[1])" || $0.name.hasPrefix("origins.\(parts[1]).") })
        else { return nil }
        return String(parts[1])
    }

    /// Whether settings of a group of hosts lie below the name: `origins.cdn`, `origins.cdn.freshness`.
    static func isGroup(_ name: String) -> Bool {
        guard let group = groupName(in: name) else { return false }
        return name == "origins.\(group)" || groupKeys(group).contains { $0.name.hasPrefix(name + ".") }
    }

    /// The table, and the settings of the existing groups.
    package var allKeys: [SettingKey] { Settings.keys + origins.groups.flatMap { Settings.groupKeys($0.name) } }
    /// Settings of a group, for the reference page.
    package static let groupKeys = groupKeys("NAME")
}

/// A header in requests to the hosts of a group.
package struct OriginHeader: Sendable, Equatable {
    package enum Place: Sendable, Equatable {
        case here(Secret)
        case file(String)
        case environment(String)
    }

    package let name: String
    package let place: Place
    /// The value, once it was read.
    package internal(set) var value: Secret?

    /// The header with its value, for sending only.
    package var revealed: (name: String, value: String)? { value.map { (name, $0.revealed) } }

    var description: String {
        switch place {
        case .here(let value): "\(name): \(value)"
        case .file(let path): "\(name): file:\(path)"
        case .environment(let variable): "\(name): environment:\(variable)"
        }
    }

    /// Headers that the client sets itself, and headers that would change the form of the response.
    private static let own: Set<String> = [
        "host", "user-agent", "accept-encoding", "if-none-match", "if-modified-since", "connection", "content-length",
        "transfer-encoding", "te", "upgrade", "range", "expect",
    ]

    static func isName(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count) && !own.contains(name.lowercased())
            && name.utf8.allSatisfy { $0 &- 0x30 < 10 || ($0 | 0x20) &- 0x61 < 26 || $0 == 0x2D || $0 == 0x5F }
    }

    mutating func read(_ environment: [String: String]) throws(SettingRefusal) {
        switch place {
        case .here(let text): value = text
        case .file(let path): value = Secret(try SecretFile.line(in: path))
        case .environment(let variable):
            guard let text = environment[variable]?.withoutLineEnd, text.isOneLine, !text.isEmpty else {
                throw SettingRefusal("expected one line of text in the variable \(variable).")
            }
            value = Secret(text)
        }
    }
}

extension SettingType where Value == [OriginHeader] {
    /// Headers: `{Authorization: file:/run/secrets/cdn, X-Tenant: shop}`.
    static var originHeaders: Self {
        SettingType(
            expectation:
                "a map of header names, except those of every request, to file:PATH, environment:NAME or a value",
            read: { node, folder in
                guard let entries = node.entries else { return nil }
                var headers: [OriginHeader] = []
                for entry in entries {
                    guard OriginHeader.isName(entry.key), case .scalar(let text) = entry.value.content, !text.isEmpty,
                        text.isOneLine, !headers.contains(where: { $0.name.lowercased() == entry.key.lowercased() })
                    else { return nil }
                    let place: OriginHeader.Place
                    if text.hasPrefix("file:") {
                        let path = String(text.dropFirst(5))
                        place = .file(folder.map { path.hasPrefix("/") ? path : $0 + "/" + path } ?? path)
                    } else if text.hasPrefix("environment:") {
                        place = .environment(String(text.dropFirst(12)))
                    } else {
                        place = .here(Secret(text))
                    }
                    headers.append(OriginHeader(name: entry.key, place: place))
                }
                return headers
            },
            write: { "{" + $0.map(\.description).joined(separator: ", ") + "}" }, isSecret: true)
    }
}

extension SettingType where Value == Double {
    /// A rate per second: `200/s`, `30/m`, `1000/h`.
    static var rate: Self {
        scalar(
            "a rate such as 200/s, 30/m or 1000/h, or 0",
            { text in
                if text == "0" { return 0 }
                let parts = text.split(separator: "/", omittingEmptySubsequences: false)
                let seconds: [Substring: Double] = ["s": 1, "m": 60, "h": 3_600]
                guard parts.count == 2, let number = Int(parts[0]), (1...1_000_000).contains(number),
                    let unit = seconds[parts[1]]
                else { return nil }
                return Double(number) / unit
            },
            write: { rate in
                let units: [(Double, String)] = [(1, "s"), (60, "m"), (3_600, "h")]
                let whole = units.first {
                    (rate * $0.0).rounded() >= 1 && abs((rate * $0.0).rounded() - rate * $0.0) < 1e-6
                }
                return rate == 0 ? "0" : whole.map { "\(Int((rate * $0.0).rounded()))/\($0.1)" } ?? "\(rate)/s"
            })
    }
}
