import Canonical
internal import Clocks
import CommandLine
import ImageModel
import JSONText
import LogChoice
import Ports
import Posix
internal import Records
import Settings
import Telemetry

/// `mezzotint origins`: the state of hosts, read only from the log, and manual blocks.
enum OriginsCommand {
    static let command = Command(
        "origins", abstract: "Show blocked and slowed hosts; block or unblock one.",
        examples: [
            "mezzotint origins --watch", "mezzotint origins block https://img.example --for 2h",
            "mezzotint origins unblock img.example",
        ],
        arguments: [
            Argument("action", help: "block or unblock; without it all hosts are shown.", isOptional: true),
            Argument("host", help: "The host, with or without its scheme, or the name of a group.", isOptional: true),
        ],
        options: [
            .json, Option(flag: "watch", help: "Show it again every two seconds, until interrupted."),
            Option("for", value: "duration", help: "How long to block: 1h if not given, at most 24h."),
        ],
        run: run)

    private static func run(_ arguments: ParsedArguments) async throws -> ExitCode {
        let words = arguments.positionals
        switch (words.first, words.count) {
        case (nil, _): return try await show(arguments)
        case ("block"?, 2), ("unblock"?, 2): return try await set(words[1], isBlocked: words[0] == "block", arguments)
        case ("block"?, _), ("unblock"?, _): throw UsageError("Name the host: mezzotint origins \(words[0]) HOST.")
        case (let action?, _): throw UsageError("Unknown action '\(action)'. Use block or unblock.")
        }
    }

    private static func set(_ text: String, isBlocked: Bool, _ arguments: ParsedArguments) async throws -> ExitCode {
        if arguments.flag("watch") { throw UsageError("--watch cannot be combined with block or unblock.") }
        var wait = Duration.hours(1)
        if let text = arguments.value("for") {
            guard isBlocked else { throw UsageError("--for requires block.") }
            guard let said = Duration(parsing: text), said > .zero, said <= OriginRow.longestBlock else {
                throw UsageError("--for: expected a duration up to 24h, such as 10m, got '\(text)'.")
            }
            wait = said
        }
        let settings = try Settings.loaded(arguments, inspect: ChosenLog.problems).settings
        let isGroup = settings.origins.groups.contains { $0.name == text }
        // A wrong name is refused even before there is a log.
        let servers = isGroup ? [] : try servers(named: text)
        return try await LogAccess.changing(arguments) { log in
            let now = SystemTime.wall
            let reported = try await log.originReport(owners: nil, at: now).hosts
            let known = Set(reported.map(\.host))
            var hosts = isGroup || known.contains(text) ? [text] : hosts(servers, known: known, settings)
            if !isBlocked {
                let treated = Set(reported.lazy.filter { $0.state != .open }.map(\.host))
                // The report uses this machine's clock. A worker whose clock differs may still block a host that the
                // report shows as open.
                hosts = hosts.filter(hosts.contains(where: treated.contains) ? treated.contains : known.contains)
            }
            guard hosts.count <= Self.namedTogether else {
                throw UsageError(
                    "\(text) is asked at \(hosts.count) ports, and \(Self.namedTogether) at most can be named together: name one, like \(hosts[0]), or refuse the host by fetch.hosts.deny."
                )
            }
            let records = hosts.map { host in
                var row = OriginRow(host: host, by: OriginRow.operatorName, at: now)
                if isBlocked {
                    (row.state, row.code, row.since) = (.blocked, OriginRow.operatorName, now)
                    row.until = now + wait
                }
                return row.newRecord()
            }
            if let failure = await log.append(records).lazy.compactMap(\.failure).first { throw failure }
            if arguments.flag("json") {
                Output.array(hosts) { $0.field("host", $1) }
            } else {
                for host in hosts { Console.print("\(host) is \(isBlocked ? "blocked" : "asked again").") }
            }
            if hosts.isEmpty { Console.complain("\(ShownURL(text)) was not blocked. 'mezzotint origins' lists hosts.") }
            return hosts.isEmpty ? .failure : .success
        }
    }

    /// A server, or both servers of a name without a scheme.
    private static func servers(named text: String) throws -> [String] {
        let schemes = text.contains("://") ? [""] : ["http://", "https://"]
        let servers = schemes.map { OriginHost(of: $0 + text).description }.filter { !$0.isEmpty }
        guard !servers.isEmpty else {
            throw UsageError("'\(ShownURL(text))' is not a host. Give a server, such as https://img.example:8443.")
        }
        return servers
    }

    /// Publishers choose the ports of their jobs, and each row stays in the log.
    private static let namedTogether = 64

    /// Host names as workers use them: their groups, or the hosts themselves. Without a scheme, the known ones match. A
    /// name alone matches its servers at all known ports, and at the usual ones.
    private static func hosts(_ servers: [String], known: Set<String>, _ settings: Settings) -> [String] {
        func name(_ host: String) -> String { String(decoding: OriginHost(group: host).name, as: UTF8.self) }
        let isName = servers.count == 2 && servers.allSatisfy { $0.hasSuffix("//" + name($0)) }
        let there = known.filter { servers.contains($0) || isName && name($0) == name(servers[0]) }
        let meant = isName || there.isEmpty ? there.union(servers) : there
        return Set(meant.map { settings.originGroups.origin(of: $0).description }).sorted()
    }

    static func owners(of log: any Log) async throws -> Set<String> {
        var owners: Set<String> = []
        for partition in log.partitions { if let owner = try await log.owner(of: partition) { owners.insert(owner) } }
        return owners
    }

    private static func show(_ arguments: ParsedArguments) async throws -> ExitCode {
        if arguments.value("for") != nil { throw UsageError("--for requires block.") }
        return try await LogAccess.reading(arguments) { log in
            while true {
                let now = SystemTime.wall
                let hosts = try await log.originReport(owners: try? await owners(of: log), at: now).hosts
                show(hosts, at: now, json: arguments.flag("json"), onOneScreen: arguments.flag("watch"))
                guard arguments.flag("watch") else { return .success }
                try await Task.sleep(for: .seconds(2))
            }
        }
    }

    private static func show(_ hosts: [OriginSummary], at now: WallTime, json: Bool, onOneScreen: Bool) {
        guard !json else {
            return Output.array(hosts) { json, host in
                json.field("host", host.host)
                json.field("state", host.state.rawValue)
                time("since", host.since, &json)
                time("until", host.until, &json)
                json.field("limit", host.isReported ? host.limit : nil)
                json.field("inFlight", host.isReported ? host.inFlight : nil)
                json.waiting { host.isReported ? host.waiting[$0] : nil }
                json.key("matchRate")
                if let rate = host.matchRate { json.number(rate) } else { json.null() }
                json.field("staleOutcomes", host.staleOutcomes)
            }
        }
        let rows = hosts.map { host -> [String] in
            // Unknown while no worker reports the host.
            let told = { (count: Int) in host.isReported ? "\(count)" : "-" }
            return [
                host.host, host.state.rawValue,
                host.since.map { Output.age(of: $0, at: now) } ?? "-",
                host.until.map { Output.age($0 - now) } ?? "-", host.code ?? "-", told(host.limit),
                told(host.inFlight), host.isReported ? rate(host.perMinute) : "-",
            ] + Lane.allCases.map { told(host.waiting[$0]) } + [
                host.matchRate.map { "\(Int(($0 * 100).rounded(.down))) %" } ?? "-", "\(host.staleOutcomes)",
            ]
        }
        if onOneScreen, Console.outputIsTerminal { Console.clear() }
        Console.write(
            TextTable.text(
                ["HOST", "STATE", "SINCE", "LEFT", "WHY", "LIMIT", "IN FLIGHT", "RATE"]
                    + Lane.allCases.map { $0.title.uppercased() } + ["SAME", "STALE"], rows))
    }

    private static func rate(_ perMinute: Int) -> String {
        perMinute == 0 ? "0" : perMinute < 60 ? "\(perMinute)/min" : "\((perMinute + 30) / 60)/s"
    }

    private static func time(_ name: StaticString, _ time: WallTime?, _ json: inout JSONWriter) {
        json.key(name)
        if let time { json.string(Timestamp.text(time)) } else { json.null() }
    }
}
