internal import Ports
internal import Posix
internal import Settings
internal import StoreChoice
internal import Synchronization

/// Facts about a worker's machine and its own process.
final class Surroundings: Sendable {
    /// Client name in brokers' tools and `mezzotint lag`.
    let client: String
    private let folders: [(name: String, space: FreeSpace)]
    /// Most processor time of its children seen so far: while a child ends, its time counts nowhere for a moment.
    private let childrenCPU = Mutex(Duration.zero)

    init(_ settings: Settings) {
        client = settings.workerName
        let data = (name: "data", space: FreeSpace(of: settings.data))
        folders = (ChosenStore.site(settings).room().map { [(name: "store", space: $0)] } ?? []) + [data]
    }

    /// Free space from the last measurement; leaves out disks with unknown space, and stores that do not report it.
    var freeBytes: [(folder: String, free: Int)] {
        folders.compactMap { folder in folder.space.bytes.map { (folder.name, $0) } }
    }

    /// CPU time of running children, of their reaped children and of ours. Monotonic.
    func childrenCPU(of running: [ChildProcess]) -> Duration {
        let ended = ProcessMemory.childrenCPUTime
        let now = running.reduce(ended) { $0 + ($1.cpuTime ?? .zero) }
        return childrenCPU.withLock { most in
            most = max(most, now)
            return most
        }
    }

    /// Leaves out the descriptor that reads the folder, and the folder's names for itself and its parent.
    static var openFiles: Int? { (try? FileSystem.names(in: "/proc/self/fd")).map { $0.count - 3 } }
}
