internal import Canonical
internal import Clocks
internal import ImageModel
internal import Records

/// What workers promise beside answers: who is answered by something stale is told once it is fresh again, and who reads of
/// changes knows by an event's id what it names.
final class Promises {
    private struct PendingRefresh {
        let id: String
        /// When it was answered, microseconds; nil if it is owed still.
        var paid: Int64?
    }

    private unowned(unsafe) let world: World
    /// When jobs came, microseconds.
    private var published: [String: Int64] = [:]
    /// Jobs that could expire, though never here, and jobs that want what is stored alone: nothing is owed to them.
    private var hasTime: Set<String> = []
    private var wantsStored: Set<String> = []
    private var pendingRefreshes: [SourceKey: [PendingRefresh]] = [:]
    /// When it was last told that a variant is fresh again, by source and spec, microseconds.
    private var refreshed: [String: Int64] = [:]
    /// By source and its two versions, what was named as changed, by the event's id.
    private var changes: [String: [String: String]] = [:]

    /// Ids of one change: of its flight, of the job that sees to the rest, and of one that was left to a third owner.
    private static let tellings = 3

    /// Of jobs that expire after every simulation's end.
    static let longLife = Duration.seconds(3_000)

    init(_ world: World) { self.world = world }

    func publish(_ id: String, hasTime: Bool, _ freshness: JobFreshness) {
        if hasTime { self.hasTime.insert(id) }
        if freshness == .cacheOnly { wantsStored.insert(id) }
    }

    /// A job's first record is in a log.
    func accept(_ id: String) {
        published[id] = world.now
        if id.hasPrefix(Job.refreshPrefix) { world.count(.revalidating) }
        guard id.hasPrefix(Job.staleRefreshPrefix), let source = Self.source(of: id) else { return }
        world.count(.owed)
        pendingRefreshes[source, default: []].append(PendingRefresh(id: id))
    }

    private static func source(of id: String) -> SourceKey? {
        SourceKey(hex: String(id.dropFirst(Job.staleRefreshPrefix.count).prefix(64)))
    }

    /// An event of an owner; what one says whose time is over, readers cannot tell from the others.
    func tell(_ new: NewRecord, _ id: String, isOld: Bool) {
        let parts = id.split(separator: "/")
        if parts.count == 4, parts[1] == "refreshed" {
            world.count(.refreshed)
            refreshed["\(parts[0])/\(parts[3])"] = world.now
            return
        }
        world.count(.changeTold)
        guard !isOld, let text = new.value.map({ String(decoding: $0, as: UTF8.self) }) else { return }
        // Sources never go back to what they were here.
        let change = id.split(separator: "-").prefix(2).joined(separator: "-")
        // An owner that does it again after a kill says when it has found the change itself.
        let named = text.split(separator: "\"variants\":").last.map(String.init) ?? text
        if let known = changes[change, default: [:]].updateValue(named, forKey: id), known != named {
            world.fail(.promises, "\(id) has named \(known), and now \(named)")
        }
        // An owner that does not know that it was told tells it once more, of what stands by then.
        if changes[change, default: [:]].count > Self.tellings {
            world.fail(.promises, "\(change) is told again and again")
        }
        if text.contains("\"variants\":[]") { world.fail(.promises, "\(id) tells of no variant") }
    }

    func answered(_ id: String, _ report: OutcomeReport, isOld: Bool) {
        if report.kind == .expired, hasTime.contains(id) {
            world.fail(.promises, "\(id) is expired long before its time")
        }
        if id.hasPrefix(Job.staleRefreshPrefix) { return paid(id, report) }
        guard report.kind == .stale || report.kind == .degraded, !wantsStored.contains(id), !isOld,
            let source = report.source
        else { return }
        let since = published[id] ?? 0
        if pendingRefreshes[source]?.contains(where: { $0.paid ?? .max >= since }) != true {
            world.fail(.promises, "\(id) is \(report.kind.rawValue), and nothing is owed for that")
        }
    }

    private func paid(_ id: String, _ report: OutcomeReport) {
        if report.kind.isFresh, report.omitted == 0 {
            let source = report.source?.hex ?? ""
            for variant in report.variants
            where refreshed["\(source)/\(variant.spec)"] ?? -1 < published[id] ?? 0 {
                world.fail(.promises, "\(variant.spec) is fresh again by \(id), and nobody is told")
            }
        }
        // A dead one is owed all the same, until its time is over.
        guard report.kind != .dead, let source = Self.source(of: id),
            let index = pendingRefreshes[source]?.firstIndex(where: { $0.id == id && $0.paid == nil })
        else { return }
        pendingRefreshes[source]?[index].paid = world.now
    }
}
