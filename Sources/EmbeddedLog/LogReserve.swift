internal import Posix

/// Room on the log's disk that nobody else can take: a file of nothing, given up when the disk is full and taken again when
/// there is room.
///
/// What frees a full disk is written first: a committed offset, the deletion of what it has passed, the pages of a WAL that
/// become the file's. Without this room a worker could neither start nor finish what it began.
///
/// - Concurrency: changed under the write lock only, by the process that holds it.
struct LogReserve: Sendable {
    let path: String

    /// What the file holds of the disk.
    var held: Int { (try? FileSystem.heldBytes(of: path)) ?? 0 }

    /// Whether the disk can hold room for a file that has nothing in it, as far as it says. Asked of a disk that is full, too.
    var isPossible: Bool {
        if held > 0 { return true }
        let trial = path + ".trial"
        defer { _ = try? FileSystem.remove(trial) }
        do throws(SystemFailure) { try FileSystem.reserve(4_096, at: trial) } catch { return !error.isUnsupported }
        return true
    }

    /// Lets the room go. True if there was some.
    func giveUp() -> Bool {
        guard held > 0 else { return false }
        do throws(SystemFailure) { try FileSystem.reserve(0, at: path) } catch { return false }
        return true
    }

    /// Takes so much, or nothing where the disk has not as much, and half of it besides: what is taken must not be what
    /// is missed a moment later.
    func take(_ bytes: Int) {
        let held = held
        guard held != bytes, held > bytes || free >= bytes - held + bytes / 2 else { return }
        do throws(SystemFailure) { try FileSystem.reserve(bytes, at: path) } catch { _ = giveUp() }
    }

    /// A part of what is to be reserved, or of half the disk where that is less: one that is smaller than what is to be
    /// reserved is worked on all the same.
    func part(_ part: Int, of bytes: Int) -> Int {
        min(bytes, (FileSystem.disk(of: path)?.size ?? .max) / 2) / part
    }

    /// Of the disk, for everyone.
    var free: Int { FileSystem.freeBytes(of: path) ?? .max }
}
