import CommandLine
import ImageModel
import JSONText
import Ports
import Posix
internal import Records
import Settings

/// `mezzotint lag`: the workers' lag, read only from the log, so that it also works when all workers are dead.
enum LagCommand {
    static let command = Command(
        "lag", abstract: "Show consumer lag by topic, partition and host.",
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
                let (lags, unreadable, pauses) = try await lags(log)
                let grown = (try? await log.grownTopics()) ?? []
                let notes = notes(lags, unreadable, grown, log) + pauses.map { "\($0). 'mezzotint resume' ends the pause." }
                let unread = grown.filter { Topic.consumed.contains($0.topic) && $0.unread != 0 }
                // The table shows more if workers report hosts.
                let report = try? await log.originReport(
                    owners: Set(owners.values), at: SystemTime.wall)
                if arguments.flag("json") {
                    show(lags, unreadable, unread, owners, report?.held ?? [:])
                    for note in notes { Console.complain(note) }
                } else {
                    let held = report?.hosts.filter { $0.throttledBy != nil } ?? []
                    show(lags, unreadable, unread, owners, held, notes, onOneScreen: arguments.flag("watch"))
                }
                guard arguments.flag("watch") else { return .success }
                try await Task.sleep(for: .seconds(2))
            }
        }
    }

    /// A topic-partition that cannot be read, for instance while its leader is away.
    private typealias Unreadable = (point: LogPoint, failure: LogFailure)

    /// - Failure: no topic-partition can be read.
    private static func lags(
        _ log: any Log
    ) async throws(LogFailure) -> ([PartitionLag], [Unreadable], [Pause]) {
        let points = Topic.consumed.flatMap { topic in log.partitions.map { LogPoint(topic, $0, nil) } }
        var places: [PartitionOffsets] = []
        var unreadable: [Unreadable] = []
        for (point, result) in zip(points, await log.offsets(of: points)) {
            do throws(LogFailure) { places.append(try result.get()) } catch { unreadable.append((point, error)) }
        }
        if places.isEmpty, let first = unreadable.first { throw first.failure }
        var rows: [PartitionID: ProgressRow] = [:]
        for partition in log.partitions {
            // Without the row, records finished ahead count, too: the changelog's broker may be away.
            rows[partition] = try? await log.newestProgress(of: partition)
        }
        let lags = try await log.lags(places) { offsets in
            let progress = rows[offsets.partition]?.topics[offsets.topic]
            return KnownRecords(finished: progress?.finished(in: offsets.bounds, committed: offsets.committed))
        }
        let pauses = Pause.active(rows.values.flatMap(\.pauses), at: SystemTime.wall)
        return (lags + (await parked(log, rows)), unreadable, pauses)
    }

    /// Parked jobs as the owners counted them. An owner counts once a second, so rows that came since are counted here: there
    /// are at least as many jobs.
    private static func parked(_ log: any Log, _ rows: [PartitionID: ProgressRow]) async -> [PartitionLag] {
        var lags: [PartitionLag] = []
        let points = log.partitions.map { LogPoint(.parked, $0, nil) }
        for (point, result) in zip(points, await log.offsets(of: points)) {
            let row = rows[point.partition]
            var lanes = row?.parked?.lanes ?? ByLane { _ in .none }
            var standing: [[UInt8]: ParkedRow] = [:]
            if let bounds = try? result.get().bounds,
                let records = try? await log.read(
                    .parked, point.partition, from: max(bounds.lowerBound, row?.answers?[.parked] ?? 0), limit: tailRecords)
            {
                for record in records {
                    guard case .change(let change)? = try? ParkedEntry(record) else { continue }
                    if case .park(let row, _) = change { standing[record.key] = row } else { standing[record.key] = nil }
                }
            }
            if row?.parked == nil, standing.isEmpty { continue }
            for lane in Lane.allCases {
                let own = standing.values.filter { $0.worksAs == lane }
                lanes[lane] = ProgressRow.Parked.Jobs(
                    max(lanes[lane].jobs, Int64(own.count)),
                    oldest: (own.map(\.note.firstSeen) + [lanes[lane].oldest].compactMap(\.self)).min())
            }
            lags.append(PartitionLag(parked: ProgressRow.Parked(epoch: 0, lanes: lanes), of: point.partition))
        }
        return lags
    }

    private static let tailRecords = 1_000

    /// What the figures leave out or hide, a sentence each.
    private static func notes(
        _ lags: [PartitionLag], _ unreadable: [Unreadable], _ grown: [GrownTopic], _ log: any Log
    ) -> [String] {
        var notes = lags.filter { $0.hidden > 0 }.prefix(1).map { lag in
            let others = lags.count { $0.hidden > 0 } - 1
            let more = others > 0 ? ", and so do transactions in \(others) more" : ""
            let tools = log.toolTopic(lag.topic)
            let server = tools.map { " --bootstrap-server \($0.bootstrap)" } ?? ""
            let place = "--topic \(tools?.name ?? lag.topic.rawValue) --partition \(lag.partition)"
            return
                "An open transaction hides \(lag.hidden) of the records of \(lag.topic.rawValue), partition \(lag.partition), from offset \(lag.hiddenFrom) on\(more). 'kafka-transactions.sh\(server) describe-producers \(place)' names its producer."
        }
        if let first = unreadable.first {
            let count = unreadable.count == 1 ? "1 partition" : "\(unreadable.count) partitions"
            notes.append("\(count) of topics cannot be read: \(first.failure)")
        }
        notes += grown.map { note(of: $0) }
        return notes
    }

    private static func note(of topic: GrownTopic) -> String {
        let unread = topic.unread.map { ", and the others hold \($0) unread records" } ?? ""
        return
            "\(topic.topic.rawValue) has \(topic.partitions) partitions; workers use \(topic.used)\(unread). 'mezzotint topics check' says how to grow a topic."
    }

    /// For an unreadable topic-partition, records and seconds are null; for partitions that no worker reads, the number
    /// is null.
    private static func show(
        _ lags: [PartitionLag], _ unreadable: [Unreadable], _ unread: [GrownTopic], _ owners: [PartitionID: String],
        _ held: [String: [OriginRow]]
    ) {
        let now = SystemTime.wall
        var rows = lags.map { lag in
            Row(
                topic: lag.topic, partition: lag.partition, records: lag.records, hidden: lag.hidden, unread: 0,
                seconds: lag.seconds(at: now))
        }
        rows += unreadable.map { place in
            Row(topic: place.point.topic, partition: place.point.partition, message: place.failure.description)
        }
        rows += unread.map { topic in
            Row(topic: topic.topic, records: topic.unread, hidden: 0, unread: topic.unread, message: note(of: topic))
        }
        Output.array(rows) { json, row in
            let owner = row.partition.flatMap { owners[$0] }
            json.field("topic", row.topic.rawValue)
            json.field("partition", row.partition.map { Int($0.number) })
            json.field("records", row.records.map { Int($0) })
            json.field("hidden", row.hidden.map { Int($0) })
            json.field("unread", row.unread.map { Int($0) })
            json.key("seconds")
            if let seconds = row.seconds { json.number(seconds) } else { json.null() }
            json.field("owner", owner)
            json.field("message", row.message)
            let hosts = row.records ?? 0 > 0 ? owner.flatMap { held[$0] } ?? [] : []
            json.field("throttledBy", hosts.first?.throttledBy?.rawValue)
            json.objects("hosts", hosts.prefix(hostLimit)) { json, row in
                json.field("host", row.host)
                json.field("throttledBy", row.throttledBy?.rawValue)
                json.field("limit", row.limit)
                json.waiting { row.waiting[$0] }
            }
        }
    }

    /// A partition of a topic; or all unread partitions of a topic, whose `partition` is nil.
    private struct Row {
        var topic: Topic
        var partition: PartitionID?
        var records: Int64?
        var hidden: Int64?
        var unread: Int64?
        var seconds: Double?
        var message: String?
    }
    private static let hostLimit = 20

    private static func show(
        _ lags: [PartitionLag], _ unreadable: [Unreadable], _ unread: [GrownTopic], _ owners: [PartitionID: String],
        _ hosts: [OriginSummary], _ notes: [String], onOneScreen: Bool
    ) {
        let now = SystemTime.wall
        // Only older versions wrote to retry topics: each is shown only while it has records.
        let totals = (Topic.consumed + [.parked]).compactMap { topic -> [String]? in
            let own = lags.filter { $0.topic == topic }
            if topic.isRetry, own.allSatisfy({ $0.records == 0 }) { return nil }
            let added = unread.first { $0.topic == topic }?.unread ?? 0
            return [
                topic.rawValue, "all", "\(own.reduce(0) { $0 + $1.records } + added)",
                age(own.map { $0.seconds(at: now) }.max() ?? 0), "",
            ]
        }
        let behind = lags.filter { $0.records > 0 }.map {
            [
                $0.topic.rawValue, "\($0.partition)", "\($0.records)", age($0.seconds(at: now)),
                owners[$0.partition] ?? "nobody",
            ]
        }
        let unknown = unreadable.map {
            [
                $0.point.topic.rawValue, "\($0.point.partition)", "unreadable", "",
                owners[$0.point.partition] ?? "nobody",
            ]
        }
        let added = unread.map { [$0.topic.rawValue, "added", $0.unread.map { "\($0)" } ?? "unknown", "", "nobody"] }
        if onOneScreen, Console.outputIsTerminal { Console.clear() }
        Console.write(
            TextTable.text(["TOPIC", "PARTITION", "RECORDS", "OLDEST", "OWNER"], totals + behind + unknown + added))
        if !notes.isEmpty { Console.write("\n" + notes.joined(separator: "\n") + "\n") }
        guard !hosts.isEmpty else { return }
        let held = hosts.map { host in
            [host.host, host.throttledBy?.rawValue ?? "", "\(host.limit)"] + Lane.allCases.map { "\(host.waiting[$0])" }
        }
        Console.write(
            "\n" + TextTable.text(["HOST", "HELD BY", "LIMIT"] + Lane.allCases.map { $0.title.uppercased() }, held))
    }

    private static func age(_ seconds: Double) -> String {
        seconds > 0 ? Output.age(.milliseconds(Int64(seconds * 1000))) : "-"
    }
}
