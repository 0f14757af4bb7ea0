/// What holds the work up, or that nothing does: one of a list that scripts rely on.
///
/// In the order in which they are looked for: the first that is so is said.
package enum Cause: String, Sendable, CaseIterable {
    case starting
    case logUnreachable = "log-unreachable"
    case topicsUnusable = "topics-unusable"
    case noWorker = "no-worker"
    case noOwner = "no-owner"
    case partitionsUnreadable = "partitions-unreadable"
    case foreignMember = "foreign-member"
    case openTransaction = "open-transaction"
    case partitionsAdded = "partitions-added"
    case workerSilent = "worker-silent"
    case restoring
    case paused
    case storeHalted = "store-halted"
    case rendererHalted = "renderer-halted"
    case hostBlocked = "host-blocked"
    case hostSlow = "host-slow"
    case killerJob = "killer-job"
    case pinned
    case saturated
    case deadLetters = "dead-letters"
    case fine

    package var meaning: String {
        switch self {
        case .starting: "Nothing was seen yet."
        case .logUnreachable: "The log does not answer; what is shown is as old as it says."
        case .topicsUnusable: "A topic is missing, or is not as it must be."
        case .noWorker: "Nobody owns any partition."
        case .noOwner: "Some partitions have no owner."
        case .partitionsUnreadable: "Some partitions cannot be read; the others are shown."
        case .foreignMember: "A program that is no worker is a member of the workers' group and holds partitions."
        case .openTransaction: "A transaction that its producer does not end hides records, which wait behind it."
        case .partitionsAdded: "A topic has more partitions than the workers use; nobody reads the others."
        case .workerSilent: "A worker does not answer, or all that it owns stands still while others' comes on."
        case .restoring: "Jobs wait until the index of their partition is restored."
        case .paused: "Most of what waits does so for a host that a person has blocked."
        case .storeHalted: "Jobs wait for the store."
        case .rendererHalted: "Jobs wait for renderers, or for room to render in."
        case .hostBlocked: "Most of what waits does so for one host that refuses or does not answer."
        case .hostSlow: "Most of what waits does so for one host that answers slowly."
        case .killerJob: "Workers die of a job."
        case .pinned: "One unfinished job keeps a partition's committed offset where it is."
        case .saturated: "A lane is late, and everything works: there is more to do than is done."
        case .deadLetters: "Nothing is late, and dead letters wait for a person."
        case .fine: "Jobs are begun within their lanes' targets."
        }
    }

    /// The one thing to do about it.
    package var action: String {
        switch self {
        case .starting: "Wait a few seconds."
        case .logUnreachable:
            "Check that the log runs and can be reached from here (kafka.bootstrap; data for the embedded log)."
        case .topicsUnusable:
            "Run mezzotint topics check: it names each topic. mezzotint topics create makes the missing ones."
        case .noWorker: "Start mezzotint-worker; the last line of its log says why it ended."
        case .noOwner:
            "Check that as many workers run as should: one that was just stopped is replaced within kafka.timing.session."
        case .partitionsUnreadable: "Bring back the brokers that lead these partitions."
        case .foreignMember:
            "Stop that program, or give it a group of its own. kafka-consumer-groups.sh --describe --members names it."
        case .openTransaction:
            "End the producer that holds the transaction open, or abort the transaction with kafka-transactions.sh."
        case .partitionsAdded:
            "Follow \"Grow a topic\" in config/kafka.md: stop all workers, give every topic the same number of partitions, start them."
        case .workerSilent: "Look at that worker's log and its machine; start it again if it hangs."
        case .restoring:
            "Wait while rows come in. If they stand still, look at that worker's disk and log."
        case .paused:
            "End the block when its reason is gone: mezzotint origins unblock HOST. It ends by itself at the time that is shown."
        case .storeHalted: "Make room in the store, or bring it back (store.directory); mezzotint doctor tries it."
        case .rendererHalted: "Run mezzotint doctor where the worker runs: it starts a renderer and says what fails."
        case .hostBlocked:
            "Ask who runs the host, or lower its limits (origins); its jobs are tried again by themselves, and mezzotint origins says when."
        case .hostSlow:
            "Ask who runs the host; raise its concurrency (origins) if it is yours, or shorten fetch.deadlines. Others go on."
        case .killerJob:
            "Look at the ends of the workers in their logs. A job of which workers died three times is set aside: mezzotint dead list names it then."
        case .pinned: "Look for the job in the owner's log; after a deadline it goes on in a retry topic."
        case .saturated: "Start more workers or give them more cores (render.processes), or publish less on that lane."
        case .deadLetters: "Look at them with mezzotint dead list; publish again or discard them."
        case .fine: "Nothing is to be done."
        }
    }
}
