internal import Ports
internal import Posix
internal import Settings
internal import StoreChoice
internal import Synchronization

/// What a worker tells of its machine and of its own process.
final class Surroundings: Sendable {
    /// As brokers' tools and `mezzotint lag` name it.
    let client: String
    private let folders: [(name: String, space: FreeSpace)]
    /// The most processor time of its children that was seen: for a moment that of one that ends is nobody's.
    private let childrenCPU = Mutex(Duration.zero)

    init(_ settings: Settings) {
        client = settings.workerName
        let data = (name: "data", space: FreeSpace(of: settings.data))
        folders = (ChosenStore.site(settings).room().map { [(name: "store", space: $0)] } ?? []) + [data]
    }

    /// As of the last question; without a disk that is not known, and a store that does not tell its room.
    var freeBytes: [(folder: String, free: Int)] {
        folders.compactMap { folder in folder.space.bytes.map { (folder.name, $0) } }
    }

    /// Of those that run, of theirs that have ended, and of ours that have ended; never less than before.
    func childrenCPU(of running: [ChildProcess]) -> Duration {
        let ended = ProcessMemory.childrenCPUTime
        let now = running.reduce(ended) { $0 + ($1.cpuTime ?? .zero) }
        return childrenCPU.withLock { most in
            most = max(most, now)
            return most
        }
    }

    /// What the folder of them is read by, and its two names for folders, left out.
    static var openFiles: Int? { (try? FileSystem.names(in: "/proc/self/fd")).map { $0.count - 3 } }
}
