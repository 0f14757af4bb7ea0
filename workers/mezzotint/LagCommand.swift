import CommandLine
import ImageModel
import JSONText
import Ports
import Posix
internal import Records
import Settings

/// `mezzotint lag`: how far the workers are behind, read from the log alone, so that it also works when all are dead.
enum LagCommand {
    static let command = Command(
        "lag", abstract: "Show what waits, by partition and by host.",
        examples: ["mezzotint lag --watch", "mezzotint lag --json"],
        options: [
            .json, Option(flag: "watch", help: "Show it again every two seconds, until interrupted."),
        ],
        run: run)

    private static func run(_ arguments: ParsedArguments) async throws -> ExitCode {
        try await LogAccess.reading(arguments) { log in
            while true {
                var owners: [PartitionID: String] = [:]
                for partition in log.partitions { owners[partition] = try await log.owner(of: partition) }
                let lags = try await lags(log)
                // People see more where workers tell of hosts.
                let records = (try? await log.latest(.origins, OriginRow.partition, keyPrefix: [])) ?? []
                let (rows, living) = (OriginRow.all(of: records), Set(owners.values))
                if arguments.flag("json") {
                    show(lags, owners, OriginRow.held(rows, owners: living))
                } else {
                    let hosts = OriginSummary.all(of: rows, owners: living, at: SystemTime.wallMilliseconds)
                    show(lags, owners, hosts.filter { $0.heldBy != nil }, onOneScreen: arguments.flag("watch"))
                }
                guard arguments.flag("watch") else { return .success }
                try await Task.sleep(for: .seconds(2))
            }
        }
    }

    private static func lags(_ log: any Log) async throws(LogFailure) -> [PartitionLag] {
        let places = try await log.partitionOffsets(Topic.worked, log.partitions)
        var rows: [PartitionID: ProgressRow] = [:]
        for partition in Set(places.lazy.filter { $0.records > 0 }.map(\.partition)) {
            // Without it, what is finished ahead counts: the changelog's broker may be away.
            rows[partition] = try? await log.newestProgress(of: partition)
        }
        return try await log.lags(places) { offsets in
            let progress = rows[offsets.partition]?.topics[offsets.topic]
            return KnownRecords(finished: progress?.finished(in: offsets.bounds, committed: offsets.committed))
        }
    }

    private static func show(
        _ lags: [PartitionLag], _ owners: [PartitionID: String], _ held: [String: [OriginRow]]
    ) {
        let now = SystemTime.wallMilliseconds
        Output.array(lags) { json, lag in
            json.field("topic", lag.topic.rawValue)
            json.field("partition", lag.partition.number)
            json.field("records", lag.records)
            json.key("seconds")
            json.number(lag.seconds(at: now))
            json.field("owner", owners[lag.partition])
            let hosts = lag.records > 0 ? owners[lag.partition].flatMap { held[$0] } ?? [] : []
            json.field("heldBy", hosts.first?.heldBy?.rawValue)
            json.key("hosts")
            json.beginArray()
            for row in hosts.prefix(hostLimit) {
                json.beginObject()
                json.field("host", row.host)
                json.field("heldBy", row.heldBy?.rawValue)
                json.field("limit", row.limit)
                json.waiting { row.waiting[$0] }
                json.endObject()
            }
            json.endArray()
        }
    }
    private static let hostLimit = 20

    private static func show(
        _ lags: [PartitionLag], _ owners: [PartitionID: String], _ hosts: [OriginSummary], onOneScreen: Bool
    ) {
        let now = SystemTime.wallMilliseconds
        let totals = Topic.worked.map { topic in
            let own = lags.filter { $0.topic == topic }
            return [
                topic.rawValue, "all", "\(own.reduce(0) { $0 + $1.records })",
                age(own.map { $0.seconds(at: now) }.max() ?? 0), "",
            ]
        }
        let behind = lags.filter { $0.records > 0 }.map {
            [
                $0.topic.rawValue, "\($0.partition)", "\($0.records)", age($0.seconds(at: now)),
                owners[$0.partition] ?? "nobody",
            ]
        }
        if onOneScreen, Console.outputIsTerminal { Console.clear() }
        Console.write(TextTable.text(["TOPIC", "PARTITION", "RECORDS", "OLDEST", "OWNER"], totals + behind))
        guard !hosts.isEmpty else { return }
        let held = hosts.map { host in
            [host.host, host.heldBy?.rawValue ?? "", "\(host.limit)"] + Lane.allCases.map { "\(host.waiting[$0])" }
        }
        Console.write(
            "\n" + TextTable.text(["HOST", "HELD BY", "LIMIT"] + Lane.allCases.map { $0.title.uppercased() }, held))
    }

    private static func age(_ seconds: Double) -> String {
        seconds > 0 ? Output.age(milliseconds: Int64(seconds * 1000)) : "-"
    }
}
