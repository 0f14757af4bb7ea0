internal import Clocks
package import KafkaSetup
package import Records

/// A topic as it must be: its name on the cluster and its settings.
package struct TopicPlan: Sendable, Equatable {
    package let topic: Topic
    package let name: String
    package let partitions: Int
    package let replication: Int
    /// In the order in which they are shown.
    package let settings: [Setting]

    package struct Setting: Sendable, Equatable {
        package let name: String
        package let value: String
        /// Whether another value breaks something, and `check` must name it; others are a cluster's own business.
        package let isNeeded: Bool
    }

    /// Every topic, under the configured prefix.
    package static func all(_ configuration: KafkaConfiguration, partitions: Int, replication: Int) -> [TopicPlan] {
        Topic.allCases.map { topic in
            TopicPlan(
                topic: topic, name: configuration.name(topic), partitions: partitions, replication: replication,
                settings: settings(of: topic, replication: replication))
        }
    }

    /// KRaft makes 10,000 records at once, of topics, their settings and partitions ("excessively large batch operation").
    private static let partitionsAtOnce = 5_000

    /// As many requests as it takes to make these.
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

    /// How long `variants` keeps the word that a row is gone.
    static let tombstonesKept = Duration.days(7)

    /// Of jobs: time enough to repair a cluster of dead workers.
    static let retention = Duration.days(14)
    /// Jobs that are kept for less are lost in an outage of a night.
    static let leastRetention = Duration.days(1)

    static let inSync = "min.insync.replicas"

    private static func settings(of topic: Topic, replication: Int) -> [Setting] {
        func need(_ name: String, _ value: some CustomStringConvertible) -> Setting {
            Setting(name: name, value: value.description, isNeeded: true)
        }
        func wish(_ name: String, _ value: some CustomStringConvertible) -> Setting {
            Setting(name: name, value: value.description, isNeeded: false)
        }
        let policy: [Setting] =
            switch topic {
            case .variants:
                // Tombstones must outlive every index that may still lack them; a mark of an owner must stand until the next one
                // has folded what came before it; small segments, because the newest one is never compacted.
                [
                    need("cleanup.policy", "compact"), need("delete.retention.ms", tombstonesKept.milliseconds),
                    need("min.compaction.lag.ms", Duration.hours(1).milliseconds), wish("segment.bytes", 50 << 20),
                ]
            case .jobs, .control, .retry, .retry10s, .retry1m, .retry10m, .retry1h:
                [need("cleanup.policy", "delete"), wish("retention.ms", retention.milliseconds)]
            case .origins: [need("cleanup.policy", "compact"), wish("segment.bytes", 10 << 20)]
            case .outcomes, .events:
                [need("cleanup.policy", "delete"), wish("retention.ms", Duration.days(7).milliseconds)]
            case .dead: [need("cleanup.policy", "delete"), wish("retention.ms", DeadLetter.kept.milliseconds)]
            }
        return policy + [
            // Ages are told from it, whatever clock a producer has.
            need("message.timestamp.type", "LogAppendTime"),
            need("max.message.bytes", KafkaConfiguration.recordBytes),
            need(inSync, min(2, replication)),
        ]
    }
}
