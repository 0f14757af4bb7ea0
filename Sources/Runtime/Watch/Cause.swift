/// The cause that holds the work up, or `fine`: one of a list that scripts rely on.
///
/// `Cause.table` has their texts and the order of the checks.
package enum Cause: String, Sendable, CaseIterable {
    case clockSkewed = "clock-skewed"
    case crashLoop = "crash-loop"
    case deadLetters = "dead-letters"
    case diskFills = "disk-fills"
    case egress
    case fine
    case foreignMember = "foreign-member"
    case hostBlocked = "host-blocked"
    case hostsFail = "hosts-fail"
    case hostSlow = "host-slow"
    case idle
    case jobsExpire = "jobs-expire"
    case jobsFail = "jobs-fail"
    case jobsLost = "jobs-lost"
    case poisonJob = "poison-job"
    case logUnreachable = "log-unreachable"
    case noOwner = "no-owner"
    case noWorker = "no-worker"
    case openTransaction = "open-transaction"
    case partitionsAdded = "partitions-added"
    case partitionsUnreadable = "partitions-unreadable"
    case paused
    case pinned
    case readAhead = "read-ahead"
    case rendererHalted = "renderer-halted"
    case restoring
    case retentionShort = "retention-short"
    case retrying
    case saturated
    case starting
    case storeHalted = "store-halted"
    case storeMismatch = "store-mismatch"
    case topicRecreated = "topic-recreated"
    case topicsUnusable = "topics-unusable"
    case workerSilent = "worker-silent"

    /// The causes in the order of the table. Of causes that alternate, `SteadyDiagnosis` keeps the first in this order.
    package static let inOrder = table.compactMap { $0.texts == nil ? nil : $0.cause }

    package var meaning: String { texts.meaning }
    /// The next step, if no code and no name of the fault gives a better one.
    package var action: String { texts.action }
    /// Whether it ends as soon as it is not found. Other causes come and go from one poll to the next.
    var isExact: Bool { texts.traits.contains(.exact) }
    /// Whether it holds up jobs of all hosts, at one worker at least.
    var stopsJobs: Bool { texts.traits.contains(.stopsJobs) }

    private static let texts = Dictionary(
        uniqueKeysWithValues: table.lazy.compactMap { row in row.texts.map { (row.cause, $0) } })

    private var texts: Texts {
        guard let texts = Self.texts[self] else { preconditionFailure("\(self) has no row in Cause.table.") }
        return texts
    }
}

extension Cause {
    /// One check. Each cause has one row with its texts. A row with `also` checks for the cause by another sign,
    /// elsewhere in the order.
    struct Row: Sendable {
        let cause: Cause
        /// Returns nil if nothing is found, or another cause if that explains the finding.
        let finding: @Sendable (Findings) -> Diagnosis?
        let texts: Texts?

        init(
            _ cause: Cause, _ traits: Set<Trait> = [], means meaning: String, do action: String,
            finding: @escaping @Sendable (Findings) -> Diagnosis?
        ) {
            (self.cause, self.finding) = (cause, finding)
            texts = Texts(meaning: meaning, action: action, traits: traits)
        }

        init(also cause: Cause, finding: @escaping @Sendable (Findings) -> Diagnosis?) {
            (self.cause, self.finding, texts) = (cause, finding, nil)
        }
    }

    struct Texts: Sendable {
        let meaning: String
        let action: String
        let traits: Set<Trait>
    }

    enum Trait { case exact, stopsJobs }

    /// Every cause, in the order of the checks: the first one found is shown. Metrics, the reference and the runbook
    /// follow this order.
    static let table: [Row] = [
        Row(
            .topicsUnusable, [.exact, .stopsJobs],
            means: "A topic is missing, or is not as it must be.",
            do: "Run mezzotint topics check: it names each topic. mezzotint topics create makes the missing ones."
        ) { $0.topics },
        Row(also: .idle) { $0.unpublished },
        Row(
            .logUnreachable, [.exact, .stopsJobs],
            means: "The log does not respond. The page shows its last data, with their age.",
            do: "Check that the log runs and can be reached from here (kafka.bootstrap; data for the embedded log)."
        ) { $0.silentLog },
        Row(
            .starting, [.exact],
            means: "Lagwatch has not seen owners and every topic-partition yet.",
            do: "Wait a few seconds."
        ) { $0.starting },
        Row(also: .poisonJob) { $0.looping },
        Row(
            .crashLoop, [.stopsJobs],
            means: "A worker was started at least three times within ten minutes, each time after it crashed, was killed or ended with an error.",
            do:
                "Read the last lines of its log before each start (journalctl -u mezzotint-worker, kubectl logs --previous). If it was killed (status 137), give it more memory or lower render.processes."
        ) { $0.crashLoop },
        Row(
            .noWorker, [.exact],
            means: "Jobs are pending, or may be, and nobody owns any partition.",
            do: "Start mezzotint-worker; the last line of its log says why it ended."
        ) { $0.noWorker },
        Row(
            .idle, [.exact],
            means: "No worker runs and no job is pending, or nothing was published yet.",
            do: "No action is needed. A worker that starts processes published jobs."
        ) { $0.idle },
        Row(
            .noOwner, [.exact],
            means: "Some partitions have no owner.",
            do: "Check that all workers run. Partitions of a stopped worker move within kafka.timing.session."
        ) { $0.noOwner },
        Row(
            .partitionsUnreadable, [.exact],
            means: "Some partitions cannot be read; the others are shown.",
            do:
                "Run mezzotint topics check; if every topic is as it should be, bring back the brokers that lead these partitions."
        ) { $0.unreadable },
        Row(
            .foreignMember, [.exact, .stopsJobs],
            means: "A program that is not a worker is a member of the workers' group and holds partitions.",
            do:
                "Stop that program, or give it a group of its own. kafka-consumer-groups.sh --describe --members names it."
        ) { $0.foreignMember },
        Row(
            .openTransaction, [.exact, .stopsJobs],
            means: "A transaction that its producer does not end hides the records behind it.",
            do: "End the producer that holds the transaction open, or abort the transaction with kafka-transactions.sh."
        ) { $0.openTransaction },
        Row(
            .partitionsAdded, [.exact],
            means: "A topic has more partitions than the workers use; nobody reads the others.",
            do:
                "Follow \"Grow a topic\" in config/kafka.md: stop all workers, give every topic the same number of partitions, start them."
        ) { $0.unreadPartitions },
        Row(
            .topicRecreated, [.stopsJobs],
            means: "A topic was recreated or truncated. If it is variants or parked, its partitions are stopped.",
            do:
                "If workers log that partitions are stopped, stop all workers, run mezzotint topics restore and start them. Publish jobs again that were deleted with a job topic."
        ) { $0.recreatedTopic },
        Row(
            .storeMismatch, [.stopsJobs],
            means: "A worker's store is not the one that the log's rows are bound to.",
            do:
                "Give every worker the same store (settings store.*), and mount the right one. Only if the old store is gone for good, start one worker once with store.adopt=true."
        ) { $0.foreignStore },
        Row(
            .storeHalted, [.stopsJobs],
            means: "Jobs wait for the store, or for room on the embedded log's disk.",
            do: "Run mezzotint doctor on the worker's machine: it writes to the store and reports failures."
        ) { $0.failingStore },
        Row(
            .rendererHalted, [.stopsJobs],
            means: "Jobs wait for renderers, or for memory to render in.",
            do: "Run mezzotint doctor on the worker's machine: it starts a renderer and reports failures."
        ) { $0.failingRenderers },
        Row(also: .storeHalted) { $0.hungStore },
        Row(
            .workerSilent, [.stopsJobs],
            means: "A worker does not respond, or none of its partitions moves while others' do.",
            do: "Check that worker's log and machine. Restart it if it hangs."
        ) { $0.silentWorker },
        Row(
            .clockSkewed,
            means:
                "A worker's clock differs from the brokers' by 10 s or more: jobs and sources expire too early or too late.",
            do:
                "Set the clock of the worker's machine (NTP: chronyc tracking, timedatectl). Publish expired jobs again."
        ) { $0.skewedClock },
        Row(
            .restoring,
            means: "Jobs wait until the index of their partition is restored.",
            do: "Wait while the number of rows falls. If it stays the same, check that worker's disk and log."
        ) { $0.restoring },
        Row(also: .paused) { $0.pausedMost },
        Row(
            .paused, [.exact],
            means: "A control pauses jobs, or most pending jobs wait for a host that an operator has blocked.",
            do:
                "End it when its reason is gone: mezzotint resume, or mezzotint origins unblock HOST for a block. It ends by itself at the time that is shown."
        ) { $0.blockedByOperator },
        Row(also: .storeHalted) { $0.haltedStore },
        Row(also: .rendererHalted) { $0.haltedRenderers },
        Row(
            .egress, [.stopsJobs],
            means:
                "Many hosts cannot be reached at once and none sends anything: the network, DNS or proxy of this side.",
            do:
                "Check the network of the workers' machines: getent hosts and curl -v for one of the hosts, the firewall, and the DNS servers. Jobs are retried by themselves."
        ) { $0.egress },
        Row(
            .hostBlocked,
            means: "Most pending jobs wait for one host that refuses or does not respond.",
            do: "Ask who runs the host. Jobs are retried by themselves: mezzotint origins shows when."
        ) { $0.blockedHost },
        Row(also: .hostBlocked) { $0.waitingHost },
        Row(
            .hostsFail,
            means: "Most pending jobs wait for several hosts that refuse or do not respond.",
            do: "Ask who runs the host. Jobs are retried by themselves: mezzotint origins shows when."
        ) { $0.failingHosts },
        Row(
            .jobsExpire,
            means:
                "Jobs expire before their variants are stored: most of the last half minute, or a fifth of the last five.",
            do:
                "Compare the jobs' expires with how long they wait: start more workers, publish less, or set a later time. Compare the publisher's clock with the workers'."
        ) { $0.mostExpire },
        Row(
            .jobsFail,
            means: "Jobs fail: most of the last half minute, a fifth of the last five, or every job of one host.",
            do: "Look up the code in the reference, and the example's URL and message below."
        ) { $0.mostFail },
        Row(
            .hostSlow,
            means:
                "Most pending jobs wait for one host that passes deadlines, or whose limit is full while renderers are idle.",
            do: "Ask who runs the host; raise origins.NAME.concurrency if it is yours. Jobs of other hosts continue."
        ) { $0.slowHost },
        Row(also: .workerSilent) { $0.standstill },
        Row(
            .poisonJob,
            means: "One job makes workers crash.",
            do:
                "Read the last lines of the workers' logs. After the third crash the job becomes a dead letter: mezzotint dead list names it."
        ) { $0.poisonJob },
        Row(
            .pinned, [.stopsJobs],
            means: "One unfinished job keeps a partition's committed offset where it is.",
            do: "Find the job in the owner's log. After 30 s it is parked, unless parked cannot be written."
        ) { $0.pinned },
        Row(
            .retentionShort,
            means:
                "A topic's oldest pending job is older than half of the topic's retention, which will remove it unread.",
            do:
                "Raise retention.ms of that topic now (kafka-configs.sh --alter --entity-type topics --entity-name TOPIC --add-config retention.ms=1209600000), then work off the backlog: start more workers."
        ) { $0.retentionShort },
        Row(
            .readAhead,
            means:
                "A late lane's jobs are parked, as their host's share of worker.readAhead is full, while renderers are idle.",
            do:
                "Raise worker.readAhead, or publish that host's backlog more slowly. The jobs start by themselves, the oldest first, as earlier ones end."
        ) { $0.readAhead },
        Row(
            .saturated,
            means: "A lane is late although everything works: more jobs arrive than are completed.",
            do: "Start more workers, give them more cores (render.processes), or publish less on that lane."
        ) { $0.saturated },
        Row(also: .poisonJob) { $0.killed },
        Row(also: .jobsFail) { $0.someFail },
        Row(
            .jobsLost, [.exact],
            means: "Within the last day retention removed jobs that nobody had read.",
            do:
                "Publish these jobs again, and give the topic a longer retention.ms than its backlog is old: mezzotint topics check shows it."
        ) { $0.jobsLost },
        Row(
            .diskFills,
            means: "A worker's disk has less than 64 MiB free.",
            do: "Add space before it is full. Jobs wait while a disk is full."
        ) { $0.diskFills },
        Row(
            .retrying,
            means: "A lane is late because a few jobs failed and are retried, or wait for a host.",
            do: "Check the code and the host below. The jobs are retried by themselves until retry.retryFor."
        ) { $0.retrying },
        Row(also: .partitionsAdded) { $0.addedPartitions },
        Row(also: .paused) { $0.pausedSome },
        Row(
            .deadLetters, [.exact],
            means: "Nothing is late, and dead letters wait for an operator.",
            do:
                "Run mezzotint dead list and fix the cause. Replay jobs that are still wanted (mezzotint dead replay ID, or --code CODE), and discard the rest (mezzotint dead discard ID, or --all)."
        ) { $0.deadLetters },
        Row(
            .fine, [.exact],
            means: "Jobs start within their lanes' targets.",
            do: "No action is needed."
        ) { $0.fine },
    ]
}
