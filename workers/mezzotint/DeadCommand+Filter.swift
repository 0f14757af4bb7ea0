internal import Canonical
import CommandLine
internal import Failures
import JSONText
import Posix
internal import Records
import Settings

extension DeadCommand {
    static let filters = [
        Option("code", value: "code", help: "Only dead letters with this code."),
        Option("host", value: "host", help: "Only letters of this host, or of this group of hosts."),
        Option("since", value: "time", help: "Only letters since 2026-11-28T12:00:00Z, or 2h (ago)."),
        Option("until", value: "time", help: "Only letters before such a time."),
    ]

    /// The filter of the options above; nil if none was given.
    static func filter(_ arguments: ParsedArguments, groups: [OriginGroup]) throws(UsageError) -> DeadLetterFilter? {
        let now = SystemTime.wall
        var filter = DeadLetterFilter()
        (filter.code, filter.host) = (arguments.value("code"), arguments.value("host"))
        filter.since = try arguments.time("since", at: now)
        filter.until = try arguments.time("until", at: now)
        if let host = filter.host, !groups.contains(where: { $0.name == host }),
            OriginHost(of: host.contains("://") ? host : "http://" + host).description.isEmpty
        {
            throw UsageError(
                "--host: '\(host)' is not a host. Give a host, such as img.example, or the name of a group.")
        }
        return filters.contains { arguments.value($0.name) != nil } ? filter : nil
    }

    /// Table of the reasons, for people.
    static func show(_ reasons: DeadLetterReasons) {
        let now = SystemTime.wall
        let rows = reasons.all.map {
            [
                $0.code, "\($0.deadLetters)", Output.age(of: $0.oldest, at: now), Output.age(of: $0.newest, at: now),
                "\($0.hosts)", $0.host ?? "",
            ]
        }
        Console.write(TextTable.text(["CODE", "LETTERS", "OLDEST", "NEWEST", "HOSTS", "MOST OF"], rows))
    }

    static func write(_ reasons: DeadLetterReasons, to json: inout JSONWriter) {
        json.objects("reasons", reasons.all) { json, reason in
            json.field("code", reason.code)
            json.field("letters", reason.deadLetters)
            json.field("oldest", Timestamp.text(reason.oldest))
            json.field("newest", Timestamp.text(reason.newest))
            json.field("hosts", reason.hosts)
            json.field("host", reason.host)
        }
    }
}
