internal import Clocks
package import KafkaSetup
package import Records

/// The required form of a topic: its name on the cluster and its settings.
package struct TopicPlan: Sendable, Equatable {
    package let topic: Topic
    package let name: String
    package let partitions: Int
    package let replication: Int
    /// Settings in display order.
    package let settings: [Setting]

    package struct Setting: Sendable, Equatable {
        package let name: String
        package let value: String
        /// Whether `check` must report another value because it breaks something; the cluster's operator may choose the
        /// other settings.
        package let isRequired: Bool
    }

    /// Plans of all topics, under the configured prefix.
    package static func all(_ configuration: KafkaConfiguration, partitions: Int, replication: Int) -> [TopicPlan] {
        Topic.allCases.map { topic in
            TopicPlan(
                topic: topic, name: configuration.name(topic), partitions: partitions, replication: replication,
                settings: settings(of: topic, replication: replication))
        }
    }

    /// KRaft creates 10,000 records at once, of topics, their settings and partitions ("excessively large batch
    /// operation").
    private static let partitionsAtOnce = 5_000

    /// The plans in as many requests as KRaft's limit needs.
    package static func batches(_ plans: [TopicPlan]) -> [[TopicPlan]] {
        plans.reduce(into: []) { batches, plan in
            let held = batches.last?.reduce(0) { $0 + $1.partitions } ?? partitionsAtOnce
            if held + plan.partitions > partitionsAtOnce {
                batches.append([plan])
            } else {
                batches[batches.count - 1].append(plan)
            }
        }
    }

    /// How long `variants` and `parked` keep tombstones.
    static let tombstonesKept = Duration.days(7)

    /// Retention of jobs: time enough to repair a cluster of dead workers.
    static let retention = Duration.days(14)
    /// Shortest safe retention of jobs: with less, jobs are lost in an outage of a night.
    static let leastRetention = Duration.days(1)

    static let inSync = "min.insync.replicas"

    private static func settings(of topic: Topic, replication: Int) -> [Setting] {
        func need(_ name: String, _ value: some CustomStringConvertible) -> Setting {
            Setting(name: name, value: value.description, isRequired: true)
        }
        func prefer(_ name: String, _ value: some CustomStringConvertible) -> Setting {
            Setting(name: name, value: value.description, isRequired: false)
        }
        let policy: [Setting] =
            switch topic {
            case .variants:
                // Tombstones must outlive every index that may still lack them. An owner's mark must survive until the
                // next owner has folded the records before it. Segments are small, because the newest one is never
                // compacted.
                [
                    need("cleanup.policy", "compact"), need("delete.retention.ms", tombstonesKept.milliseconds),
                    need("min.compaction.lag.ms", Duration.hours(1).milliseconds), prefer("segment.bytes", 50 << 20),
                ]
            case .parked:
                // As `variants`. Segments are short in time, too, because most rows are soon deleted.
                [
                    need("cleanup.policy", "compact"), need("delete.retention.ms", tombstonesKept.milliseconds),
                    need("min.compaction.lag.ms", Duration.hours(1).milliseconds), prefer("segment.bytes", 50 << 20),
                    prefer("segment.ms", Duration.hours(1).milliseconds),
                ]
            case .jobs, .control, .retry, .retry10s, .retry1m, .retry10m, .retry1h:
                [need("cleanup.policy", "delete"), prefer("retention.ms", retention.milliseconds)]
            case .origins: [need("cleanup.policy", "compact"), prefer("segment.bytes", 10 << 20)]
            case .outcomes, .events:
                [need("cleanup.policy", "delete"), prefer("retention.ms", Duration.days(7).milliseconds)]
            case .dead: [need("cleanup.policy", "delete"), prefer("retention.ms", DeadLetter.kept.milliseconds)]
            }
        return policy + [
            // Ages are computed from it, independent of the producers' clocks.
            need("message.timestamp.type", "LogAppendTime"),
            need("max.message.bytes", KafkaConfiguration.recordBytes),
            need(inSync, min(2, replication)),
        ]
    }
}
