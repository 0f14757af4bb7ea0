internal import Canonical
internal import Clocks
import CommandLine
import Glibc
internal import ImageModel
import Ports
import Posix
internal import Records
import Settings

/// Controls that a command line asks for: one for each job and URL, or one for all jobs that a filter names.
struct ControlRequest {
    let controls: [Control]
    /// Whether one control may be about any number of jobs that nobody has listed.
    let isFilter: Bool

    static let options = [
        Option("job", value: "id", help: "Jobs with this id; may be repeated.", isRepeating: true),
        Option("host", value: "host", help: "Jobs of this host, with or without scheme."),
        Option("lane", value: "lane", help: "Jobs published to this lane.", oneOf: Lane.allCases.map(\.rawValue)),
        Option("before", value: "time", help: "Jobs published before a time, or before 2h ago."),
    ] + notes

    static let notes = [
        Option("why", value: "text", help: "The reason, for 'mezzotint control list'."),
        Option("by", value: "name", help: "Your name for the record (default: user@host).", isHidden: true),
    ]

    init(_ verb: Control.Verb, _ arguments: ParsedArguments, _ rules: CanonicalRules) throws {
        let now = SystemTime.wall
        let (urls, jobs) = (arguments.positionals, arguments.values("job"))
        let filter = Control.Filter(
            host: try arguments.value("host").map { text throws(UsageError) in try Self.host(text) },
            lane: arguments.value("lane").flatMap { Lane(rawValue: $0) },
            before: try arguments.time("before", at: now))
        guard [!urls.isEmpty, !jobs.isEmpty, !filter.isEmpty].count(where: { $0 }) == 1 else {
            throw UsageError(
                "Name the jobs either by URLs, by --job, or by any of --host, --lane and --before together.")
        }
        var scopes: [Control.Scope] = []
        for id in jobs {
            guard Job.isID(id) else {
                throw UsageError("--job: expected an id of 1 to 256 bytes without control bytes, got '\(id)'.")
            }
            scopes.append(.job(id))
        }
        for url in urls {
            let source = try rules.source(of: url)
            scopes.append(.source(source.key, SourceURL(source.fetchURL, hiding: rules.hidden)))
        }
        if !filter.isEmpty { scopes.append(.filter(filter)) }
        var seen: Set<Control.Scope> = []
        controls = try Self.controls(verb, scopes.filter { seen.insert($0).inserted }, arguments)
        isFilter = !filter.isEmpty
    }

    /// The `pause` or `resume` that a command line asks for.
    static func pause(_ verb: Control.Verb, _ arguments: ParsedArguments) throws -> Control {
        let host = try arguments.value("host").map { text throws(UsageError) in try Self.host(text) }
        let lane = arguments.value("lane").flatMap { Lane(rawValue: $0) }
        let scopes: [Control.Scope] =
            (arguments.flag("all") ? [.all] : []) + (lane.map { [.filter(Control.Filter(lane: $0))] } ?? [])
            + (host.map { [.filter(Control.Filter(host: $0))] } ?? [])
        guard scopes.count == 1 else { throw UsageError("Give exactly one of --lane, --host and --all.") }
        return try controls(verb, scopes, arguments)[0]
    }

    /// A control for each scope, with new ids.
    private static func controls(
        _ verb: Control.Verb, _ scopes: [Control.Scope], _ arguments: ParsedArguments
    ) throws -> [Control] {
        let by = try arguments.note("by") ?? String(caller.prefix(Control.textLimit))
        let why = try arguments.note("why")
        let stem = String(UInt64.random(in: 1 << 60 ... .max), radix: 16)
        return scopes.enumerated().map { number, scope in
            Control(id: "\(stem)-\(number + 1)", verb, scope, by: by, why: why)
        }
    }

    /// Text of a filter for the jobs' URLs: a name, or scheme, name and port.
    private static func host(_ text: String) throws(UsageError) -> String {
        let hasScheme = text.contains("://")
        let host = OriginHost(of: hasScheme ? text : "https://" + text)
        let name = String(decoding: host.name, as: UTF8.self)
        if hasScheme, !host.description.isEmpty { return host.description }
        guard !name.isEmpty, host.description == "https://" + name else {
            throw UsageError(
                "--host: expected a host, such as img.example or https://img.example:8443, got '\(ShownURL(text))'.")
        }
        return name
    }

    /// User and machine of the shell.
    private static var caller: String {
        let user = getpwuid(geteuid()).map { String(cString: $0.pointee.pw_name) } ?? "\(geteuid())"
        return "\(user)@\(SystemFacts.hostName)"
    }
}

extension ParsedArguments {
    /// A text for the record of actions; nil if the option was not given.
    fileprivate func note(_ name: String) throws(UsageError) -> String? {
        guard let text = value(name), !Job.isID(text) else { return value(name) }
        throw UsageError("--\(name): expected a text of 1 to \(Control.textLimit) bytes without control bytes, got '\(text)'.")
    }
}
