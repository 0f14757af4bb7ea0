internal import ImageModel
internal import Records

/// Advice about a failure, by its code and the name of its host.
enum Advice {
    /// The next step; nil: the cause's own action is the best that is known.
    static func action(_ code: String, host: String = "") -> String? {
        let name = host.isEmpty ? "the host" : Words.cut(host, 100)
        let unblock = host.isEmpty ? "HOST" : Words.cut(host, 100)
        return switch code {
        case "store.full":
            "Free space in the store, or add some (df -h, df -i). Jobs continue by themselves."
        case "log.full":
            "Free space on the disk of data, or add some (df -h, df -i). Jobs continue by themselves."
        case "store.unwritable":
            "Mount the store, or give the worker the right to write it: mezzotint doctor tries it. Jobs continue by themselves."
        case "store.exhausted": "Raise LimitNOFILE or the memory of the worker's unit, and restart it."
        case "store.mismatched": Cause.storeMismatch.action
        case "fetch.resolution":
            "Check the host name in the jobs, and the workers' DNS: getent hosts \(bare(host)). Jobs are retried by themselves."
        case "fetch.refused-name", "fetch.refused-address":
            "If \(name) is yours, add its address range to fetch.allow; otherwise correct the URL in the jobs."
        case "fetch.refused-host":
            "Add \(bare(host)) to fetch.hosts.allow, or take it off fetch.hosts.deny, if it may be asked."
        case "fetch.refused-port": "Add the port to fetch.ports, if it may be asked."
        case "fetch.connection", "fetch.unreachable":
            "Check that \(name) is up, and that a worker's machine reaches it: curl -v \(unblock)/. Once it responds, mezzotint origins unblock \(unblock) retries its jobs at once."
        case "fetch.deadline", "fetch.request-timeout":
            "Ask who runs \(name) why it is slow. Jobs are retried by themselves; shorter fetch.timeouts free permits sooner."
        case "fetch.too-many-requests":
            "Lower its limits (origins.NAME.concurrency, origins.NAME.rate), or ask who runs \(name) for more. Jobs are retried by themselves: mezzotint origins shows when."
        case "fetch.server-error":
            "Ask who runs \(name). Jobs are retried by themselves; once it responds, mezzotint origins unblock \(unblock) retries them at once."
        case "fetch.not-found":
            "Correct the publisher: it requests sources that do not exist at \(name). The example's URL shows one."
        case "fetch.forbidden":
            "Check the credentials that \(name) expects (origins.NAME.headers), and whether it refuses the workers' addresses."
        case "render.unrecognised", "render.unsupported", "render.malformed", "render.truncated":
            "Open the example's URL: its content is not an image that can be rendered. Replace it, or stop publishing it."
        case "log.topics":
            "Run mezzotint topics check: it names each topic and what is wrong. mezzotint topics create makes missing ones."
        case "log.denied":
            "Check the user, its password and its rights (kafka.security): config/kafka.md lists the rights."
        case "log.unreadable":
            "Check that data names the folder of this machine's workers, and that this user may read it; a damaged file is restored from a backup."
        case "log.misconfigured": "Run mezzotint config check: it names the settings that are wrong."
        case _ where ["job.", "spec.", "canonical."].contains(where: code.hasPrefix):
            "Correct the publisher: what it writes is not a valid job (config/producers.md). mezzotint dead list shows the records; discard them once they are fixed: mezzotint dead discard --all."
        default: nil
        }
    }

    /// Advice for a late lane that neither renderers nor a host hold up.
    static let idleRenderers =
        "Renderers are idle, so more cores do not help. If all fetch permits are in use (Workers, below), raise fetch.concurrency or start more workers; otherwise the worker's log says what its sources wait for."

    /// Advice for a host that an operator has blocked.
    static func unblock(_ host: String) -> String {
        "End the block when its reason is gone: mezzotint origins unblock \(Words.cut(host, 100)). It ends by itself at the time that is shown."
    }

    /// Advice for a pause.
    static func resume(_ scope: Pause.Scope) -> String {
        let option =
            switch scope {
            case .all: "--all"
            case .lane(let lane): "--lane \(lane.rawValue)"
            case .host(let host): "--host \(Words.cut(host, 100))"
            }
        return "End the pause when its reason is gone: mezzotint resume \(option). It ends by itself at the time that is shown."
    }

    /// The name in a scheme, a name and a port.
    private static func bare(_ host: String) -> String {
        let rest = host.split(separator: "/").last.map(String.init) ?? "NAME"
        guard let colon = rest.lastIndex(of: ":"), UInt16(rest[rest.index(after: colon)...]) != nil else { return rest }
        return Words.cut(String(rest[..<colon]), 100)
    }

    /// Codes of hosts that cannot be reached at all, so that their response is unknown.
    static let unreachable: Set<String> = [
        "fetch.resolution", "fetch.connection", "fetch.deadline", "fetch.unreachable",
    ]
}
