internal import Posix

/// Room on the log's disk that nobody else can take: a file without content, given up when the disk is full and taken again
/// when there is room.
///
/// Only writes free a full disk: an outcome, a committed offset, the deletion of the jobs below it. They find room here.
///
/// - Concurrency: changed under the write lock only.
struct LogReserve: Sendable {
    let path: String
    /// The size of the whole reserve; 0: none.
    let bytes: Int

    /// Bytes of the disk that the file holds.
    var held: Int { (try? FileSystem.heldBytes(of: path)) ?? 0 }

    /// Free bytes of the disk.
    var free: Int { min(FileSystem.freeBytes(of: path) ?? .max, 1 << 60) }

    /// A part of the reserve, or of half the disk if that is less: a worker also works on a disk smaller than its reserve.
    func part(_ part: Int) -> Int { min(bytes, (FileSystem.disk(of: path)?.size ?? .max) / 2) / part }

    /// Whether the disk can hold room for a file without content, as far as it says. Asked of a disk that is full, too.
    var isPossible: Bool {
        if held > 0 { return true }
        let trial = path + ".trial"
        defer { _ = try? FileSystem.remove(trial) }
        do throws(SystemFailure) { try FileSystem.reserve(4_096, at: trial) } catch { return !error.isUnsupported }
        return true
    }

    /// Returns whether there was room to give up.
    func release() -> Bool { held > 0 && (try? FileSystem.reserve(0, at: path)) != nil }

    /// Takes the whole reserve, or nothing if less than half of it would stay free: the log must not need it a moment later.
    /// A file that an older program made larger shrinks.
    func take() {
        let held = held
        guard held < bytes ? free >= bytes - held + bytes / 2 : FileSystem.length(of: path) ?? 0 > bytes else { return }
        try? FileSystem.reserve(bytes, at: path)
    }
}
