internal import Clocks
internal import ImageModel
internal import Records
package import Telemetry

/// Every family of metrics that `mezzotint-lagwatch` serves.
///
/// They survive the worker that held a backlog. An unknown value has no sample, rather than 0. Metrics that workers
/// also export have the same name, so that one rule reads both.
package enum WatchMetric: String, Sendable, CaseIterable, MetricFamily {
    case lagRecords = "mezzotint_consumer_lag_records"
    case lagSeconds = "mezzotint_consumer_lag_seconds"
    case oldest = "mezzotint_watch_oldest_job_seconds"
    case oldestReady = "mezzotint_watch_oldest_ready_job_seconds"
    case target = "mezzotint_lane_target_seconds"
    case partitions = "mezzotint_partitions"
    case partitionsOwned = "mezzotint_watch_partitions_owned"
    case partitionsUnreadable = "mezzotint_watch_partitions_unreadable"
    case owners = "mezzotint_watch_workers_live"
    case workersAsked = "mezzotint_watch_workers_asked"
    case workersSilent = "mezzotint_watch_workers_silent"
    case deadLetters = "mezzotint_dead_letters"
    case lost = "mezzotint_watch_lost_records"
    case blockedHosts = "mezzotint_watch_blocked_hosts"
    case pauses = "mezzotint_pauses"
    case foreignMembers = "mezzotint_watch_foreign_members"
    case openTransactions = "mezzotint_watch_open_transactions"
    case partitionsAdded = "mezzotint_watch_partitions_added"
    case connected = "mezzotint_watch_log_connected"
    case staleness = "mezzotint_watch_staleness_seconds"
    case cause = "mezzotint_watch_cause"

    package var type: String { "gauge" }

    package var labels: [String] {
        switch self {
        case .lagRecords, .lagSeconds: ["topic", "partition"]
        case .deadLetters: ["partition"]
        case .oldest, .oldestReady, .target: ["lane"]
        case .cause: ["cause"]
        case .pauses: ["scope"]
        case .partitions, .partitionsOwned, .partitionsUnreadable, .owners, .workersAsked, .workersSilent,
            .blockedHosts, .lost, .foreignMembers, .openTransactions, .partitionsAdded, .connected, .staleness:
            []
        }
    }

    package var meaning: String {
        switch self {
        case .lagRecords:
            "Unfinished records of every partition, with or without an owner; for the topic parked, the jobs that wait there, as the owner last counted them. A worker exports the same for its own."
        case .lagSeconds: "Age of the oldest unfinished record, or a little more; 0 if there is none."
        case .oldest:
            "Age of the oldest unfinished job of a lane, unread or parked; 0 if there is none."
        case .oldestReady:
            "Age of a lane's oldest job that no origin holds back: neither a failing or blocked host, nor a slow one."
        case .target: "Age within which a job of the lane should start (lanes.fast.target, lanes.slow.target)."
        case .partitions: "Partitions of each topic."
        case .partitionsOwned: "Partitions that have an owner."
        case .partitionsUnreadable: "Partitions that cannot be read now, completely or in part."
        case .owners: "Workers that own partitions."
        case .workersAsked: "Workers whose metrics lagwatch reads (watch.workers)."
        case .workersSilent: "Workers of watch.workers that do not respond."
        case .deadLetters:
            "Open dead letters, without discarded ones. No sample for a partition until all of its dead letters were read."
        case .lost: "Minimum number of unread records that retention removed within the last day."
        case .blockedHosts: "Hosts that workers have blocked now. No sample until the topic origins was read."
        case .pauses:
            "Active pauses, by scope: all, fast, slow, host. Lagwatch takes them from the newest progress rows, a worker from its partitions."
        case .foreignMembers: "Members of the workers' group that hold partitions and are not workers."
        case .openTransactions: "Topic-partitions in which an open transaction has hidden records for ten seconds."
        case .partitionsAdded: "Topic-partitions that the workers do not use."
        case .connected: "1 while the log responds to lagwatch, else 0."
        case .staleness: "Seconds since the log last responded, which is the age of all other values."
        case .cause: "1 for the cause that the page shows, 0 for all others."
        }
    }
}

extension WatchReport {
    package var metrics: MetricsPage {
        var page = MetricsPage()
        for metric in WatchMetric.allCases { page.add(metric, samples(of: metric)) }
        return page
    }

    private func samples(of metric: WatchMetric) -> [MetricsPage.Sample] {
        typealias Sample = MetricsPage.Sample
        func one(_ value: Int?) -> [Sample] { value.map { [Sample($0)] } ?? [] }
        // As in a worker's metrics, lag is left out while the log does not respond.
        let isLag = [.lagRecords, .lagSeconds, .oldest, .oldestReady].contains(metric)
        if isLag, [.logUnreachable, .topicsUnusable].contains(diagnosis.cause) { return [] }
        switch metric {
        case .lagRecords: return byPartition { $0.records.map { Double($0) } }
        case .lagSeconds: return byPartition { lag in lag.age(at: at).map(\.seconds) }
        case .oldest:
            return lanes.compactMap { lane in
                lane.age(at: at).map { Sample($0.seconds, lane.lane.rawValue) }
            }
        case .oldestReady:
            return lanes.compactMap { lane in
                let age = lane.ready.map { max(.zero, at - $0) } ?? (lane.age(at: at) == nil ? nil : .zero)
                return age.map { Sample($0.seconds, lane.lane.rawValue) }
            }
        case .target: return lanes.map { Sample($0.target.seconds, $0.lane.rawValue) }
        case .partitions: return one(partitions.count)
        case .partitionsOwned: return one(owners == nil ? nil : partitions.count { $0.owner != nil })
        case .partitionsUnreadable: return one(partitions.count { $0.state == .unreadable })
        case .owners: return one(owners)
        case .workersAsked: return one(workers.count)
        case .workersSilent: return one(workers.count { $0.silence != nil })
        case .deadLetters:
            return deadLettersByPartition.sorted { $0.key < $1.key }.map { Sample($0.value, "\($0.key.number)") }
        case .lost: return respondedAt == nil ? [] : one(Int(loss?.records ?? 0))
        case .blockedHosts: return one(blockedHosts?.count)
        case .pauses: return respondedAt == nil ? [] : pauses.counts.sorted { $0.key < $1.key }.map { Sample($0.value, $0.key) }
        case .foreignMembers: return one(owners == nil ? nil : foreignMembers)
        case .openTransactions: return one(respondedAt == nil ? nil : openTransactions)
        case .partitionsAdded: return one(respondedAt == nil ? nil : partitionsAdded)
        case .connected: return one(diagnosis.cause == .logUnreachable || respondedAt == nil ? 0 : 1)
        case .staleness: return respondedAt.map { [Sample(max(.zero, at - $0).seconds)] } ?? []
        case .cause: return Cause.inOrder.map { Sample($0 == diagnosis.cause ? 1 : 0, $0.rawValue) }
        }
    }

    private func byPartition(_ value: (Lag) -> Double?) -> [MetricsPage.Sample] {
        partitions.flatMap { partition in
            partition.topics.compactMap { topic, lag in
                value(lag).map { MetricsPage.Sample($0, topic.rawValue, "\(partition.number)") }
            }
        }
    }
}
