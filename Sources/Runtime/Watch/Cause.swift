/// What holds the work up, or that nothing does: one of a list that scripts rely on.
///
/// Of causes that alternate, `SteadyDiagnosis` keeps the first in this order.
package enum Cause: String, Sendable, CaseIterable {
    case starting
    case logUnreachable = "log-unreachable"
    case topicsUnusable = "topics-unusable"
    case crashLoop = "crash-loop"
    case noWorker = "no-worker"
    case idle
    case noOwner = "no-owner"
    case partitionsUnreadable = "partitions-unreadable"
    case foreignMember = "foreign-member"
    case openTransaction = "open-transaction"
    case partitionsAdded = "partitions-added"
    case storeMismatch = "store-mismatch"
    case storeHalted = "store-halted"
    case rendererHalted = "renderer-halted"
    case workerSilent = "worker-silent"
    case clockSkewed = "clock-skewed"
    case restoring
    case paused
    case egress
    case hostBlocked = "host-blocked"
    case hostsFail = "hosts-fail"
    case jobsExpire = "jobs-expire"
    case jobsFail = "jobs-fail"
    case hostSlow = "host-slow"
    case killerJob = "killer-job"
    case pinned
    case retentionShort = "retention-short"
    case readAhead = "read-ahead"
    case saturated
    case jobsLost = "jobs-lost"
    case diskFills = "disk-fills"
    case retrying
    case deadLetters = "dead-letters"
    case fine

    package var meaning: String {
        switch self {
        case .starting: "Lagwatch has not seen owners and every topic-partition yet."
        case .logUnreachable: "The log does not respond; what is shown is as old as it says."
        case .topicsUnusable: "A topic is missing, or is not as it must be."
        case .crashLoop: "A worker was started at least three times within ten minutes."
        case .noWorker: "Jobs are pending, or may be, and nobody owns any partition."
        case .idle: "No worker runs and no job is pending, or nothing was published yet."
        case .noOwner: "Some partitions have no owner."
        case .partitionsUnreadable: "Some partitions cannot be read; the others are shown."
        case .foreignMember: "A program that is not a worker is a member of the workers' group and holds partitions."
        case .openTransaction: "A transaction that its producer does not end hides records, which wait behind it."
        case .partitionsAdded: "A topic has more partitions than the workers use; nobody reads the others."
        case .storeMismatch: "A worker's store is not the one that the log's rows are bound to."
        case .storeHalted: "Jobs wait for the store."
        case .rendererHalted: "Jobs wait for renderers, or for memory to render in."
        case .workerSilent: "A worker does not respond, or none of its partitions moves while others' do."
        case .clockSkewed:
            "A worker's clock differs from the brokers' by 10 s or more: jobs and sources expire too early or too late."
        case .restoring: "Jobs wait until the index of their partition is restored."
        case .paused: "Most pending jobs wait for a host that a person has blocked."
        case .egress:
            "Many hosts cannot be reached at once and none sends anything: the network, DNS or proxy of this side."
        case .hostBlocked: "Most pending jobs wait for one host that refuses or does not respond."
        case .hostsFail: "Most pending jobs wait for several hosts that refuse or do not respond."
        case .jobsExpire:
            "Jobs expire before their variants are stored: most of the last half minute, or a fifth of the last five."
        case .jobsFail:
            "Jobs fail: most of the last half minute, a fifth of the last five, or every job of one host."
        case .hostSlow:
            "Most pending jobs wait for one host that passes deadlines, or whose limit is full while renderers are idle."
        case .killerJob: "One job makes workers crash."
        case .pinned: "One unfinished job keeps a partition's committed offset where it is."
        case .retentionShort:
            "A topic's oldest pending job is older than half of what the topic keeps: retention will remove it unread."
        case .readAhead:
            "A late lane's jobs wait in delay topics, as their host's share of worker.readAhead is full, while renderers are idle."
        case .saturated: "A lane is late and everything works: more jobs come than are done."
        case .jobsLost: "Within the last day retention removed jobs that nobody had read."
        case .diskFills: "A worker's disk has less than 64 MiB free."
        case .retrying: "A lane is late with a few jobs that failed and are retried, or that wait for a host."
        case .deadLetters: "Nothing is late, and dead letters wait for a person."
        case .fine: "Jobs are begun within their lanes' targets."
        }
    }

    /// The next step, where no code and no name of the fault says a better one.
    package var action: String {
        switch self {
        case .starting: "Wait a few seconds."
        case .logUnreachable:
            "Check that the log runs and can be reached from here (kafka.bootstrap; data for the embedded log)."
        case .topicsUnusable:
            "Run mezzotint topics check: it names each topic. mezzotint topics create makes the missing ones."
        case .crashLoop:
            "Read the last lines of its log before each start (journalctl -u mezzotint-worker, kubectl logs --previous). If it was killed (status 137), give it more memory or lower render.processes."
        case .noWorker: "Start mezzotint-worker; the last line of its log says why it ended."
        case .idle: "Nothing is to be done. A worker that starts takes up what is published."
        case .noOwner:
            "Check that as many workers run as should: a stopped worker is replaced within kafka.timing.session."
        case .partitionsUnreadable:
            "Run mezzotint topics check; if every topic is as it should be, bring back the brokers that lead these partitions."
        case .foreignMember:
            "Stop that program, or give it a group of its own. kafka-consumer-groups.sh --describe --members names it."
        case .openTransaction:
            "End the producer that holds the transaction open, or abort the transaction with kafka-transactions.sh."
        case .partitionsAdded:
            "Follow \"Grow a topic\" in config/kafka.md: stop all workers, give every topic the same number of partitions, start them."
        case .storeMismatch:
            "Give every worker the same store (store.directory), and mount the right one. Only if the old store is gone for good, start one worker once with store.adopt=true."
        case .storeHalted:
            "Run mezzotint doctor where the worker runs: it writes to the store (store.directory) and says what fails."
        case .rendererHalted: "Run mezzotint doctor where the worker runs: it starts a renderer and says what fails."
        case .workerSilent: "Look at that worker's log and its machine; start it again if it hangs."
        case .clockSkewed:
            "Set the clock of the worker's machine (NTP: chronyc tracking, timedatectl). Publish expired jobs again."
        case .restoring:
            "Wait while rows come in. If the number stands still, look at that worker's disk and log."
        case .paused:
            "End the block when its reason is gone: mezzotint origins unblock HOST. It ends by itself at the time that is shown."
        case .egress:
            "Check the network of the workers' machines: getent hosts and curl -v for one of the hosts, the firewall, and the DNS servers. Jobs are retried by themselves."
        case .hostBlocked, .hostsFail:
            "Ask who runs the host. Jobs are retried by themselves: mezzotint origins shows when."
        case .jobsExpire:
            "Compare the jobs' expires with how long they wait: start more workers, publish less, or set a later time. Compare the publisher's clock with the workers'."
        case .jobsFail: "Look up the code in the reference, and the example's URL and message below."
        case .hostSlow:
            "Ask who runs the host; raise origins.NAME.concurrency if it is yours. Jobs of other hosts continue."
        case .killerJob:
            "Read the last lines of the workers' logs. After the third crash the job becomes a dead letter: mezzotint dead list names it."
        case .pinned: "Look for the job in the owner's log; after a deadline it goes to a retry topic."
        case .retentionShort:
            "Raise retention.ms of that topic now (kafka-configs.sh --alter --entity-type topics --entity-name TOPIC --add-config retention.ms=1209600000), then work off the backlog: start more workers."
        case .readAhead:
            "Raise worker.readAhead, or publish that host's backlog more slowly. The jobs start by themselves as earlier ones end."
        case .saturated: "Start more workers, give them more cores (render.processes), or publish less on that lane."
        case .jobsLost:
            "Publish these jobs again, and give the topic a longer retention.ms than its backlog is old: mezzotint topics check shows it."
        case .diskFills: "Add space before it is full: jobs wait then."
        case .retrying: "Look at the code and the host below. The jobs are retried by themselves until retry.giveUp."
        case .deadLetters:
            "Run mezzotint dead list. Fix the cause, publish what is still wanted again (mezzotint dead replay ID, or --code CODE), and take the rest off the list (mezzotint dead discard ID, or --all)."
        case .fine: "Nothing is to be done."
        }
    }

    /// Whether it is over as soon as it is not seen; other causes come and go from one look to the next.
    var isExact: Bool {
        switch self {
        case .starting, .logUnreachable, .topicsUnusable, .noWorker, .idle, .noOwner, .partitionsUnreadable,
            .foreignMember, .openTransaction, .partitionsAdded, .paused, .jobsLost, .deadLetters, .fine:
            true
        default: false
        }
    }

    /// Whether it holds up jobs of all hosts, at one worker at least.
    var stopsJobs: Bool {
        switch self {
        case .logUnreachable, .topicsUnusable, .crashLoop, .foreignMember, .openTransaction, .storeMismatch,
            .storeHalted,
            .rendererHalted, .workerSilent, .egress, .pinned:
            true
        default: false
        }
    }
}
