internal import Posix

/// Room on the log's disk that nobody else can take: a file of nothing, given up piece by piece when the disk is full
/// and taken again when there is room.
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

    /// Lets so much of the room go, or what there is: on a disk that others fill the rest stays the log's. True if some went.
    func giveUp(_ bytes: Int) -> Bool {
        let held = held
        guard held > 0 else { return false }
        do throws(SystemFailure) { try FileSystem.reserve(max(0, held - bytes), at: path) } catch { return false }
        return self.held < held
    }

    /// Takes `least` and `more`, of `more` as much as the disk has, or nothing where it has not even `least`; and leaves half
    /// of `least` besides, three times that for `more`: what is taken must not be what is missed a moment later.
    func take(_ least: Int, and more: Int) {
        let held = held
        guard held != least + more else { return }
        var bytes = least + more
        if held < bytes {
            let free = free
            guard held >= least || free >= least - held + least / 2 else { return }
            let step = Self.step(of: least)
            bytes = min(bytes, max(least, (held + free - least / 2 * 3) / step * step))
            guard held < bytes else { return }
        }
        do throws(SystemFailure) { try FileSystem.reserve(bytes, at: path) } catch {
            // Not all that the disk says is free is there for everyone, as where there are quotas.
            if held < least { try? FileSystem.reserve(least, at: path) }
        }
    }

    /// What is taken beside `least` comes and goes by so much.
    static func step(of least: Int) -> Int { max(64 << 10, least / 4) }

    /// A part of what is to be reserved, or of half the disk where that is less: one that is smaller than what is to be
    /// reserved is worked on all the same.
    func part(_ part: Int, of bytes: Int) -> Int {
        min(bytes, (FileSystem.disk(of: path)?.size ?? .max) / 2) / part
    }

    /// Of the disk, for everyone.
    var free: Int { min(FileSystem.freeBytes(of: path) ?? .max, 1 << 60) }
}
