package import Ports
internal import Posix

/// Why no backup was made.
package enum LogBackupFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// Something has the file's name.
    case taken(String)
    /// The file would be in the log's own folder, which a restore moves away.
    case inside(String)
    case full(String)
    case unwritable(String, reason: String)
    /// The log itself could not be read.
    case log(LogFailure)

    package var description: String {
        switch self {
        case .taken(let file): "\(file) exists, and a backup replaces no file. Name a file that does not exist."
        case .inside(let file):
            "The backup \(file) would be in the log's own folder, which is moved away before a restore. Name a file in another folder."
        case .full(let file):
            "The disk has no room for the backup \(file). Free some space, or name a file on another disk."
        case .unwritable(let file, let reason):
            "The backup \(file) cannot be written: \(reason). Name a file in a folder that exists and that this user may write."
        case .log(let failure): "\(failure)"
        }
    }
}

extension EmbeddedLogView {
    /// Writes all that was acknowledged before the call to one new file, and returns when it is on the disk. A worker and
    /// publishers may go on meanwhile.
    ///
    /// - Failure: a file that exists is left as it is, and a backup that fails leaves nothing.
    /// - Returns: the file's length in bytes.
    package func backUp(to file: String) throws(LogBackupFailure) -> Int {
        let folder = file.lastIndex(of: "/").map { String(file[...$0]) } ?? ""
        // Under another name first, so that nobody takes half a backup for one.
        let draft = "\(folder).\(FileSystem.uniqueName()).backup"
        let isTaken = try writing(file) { () throws(SystemFailure) in try FileSystem.file(at: file) != nil }
        guard !isTaken else { throw .taken(file) }
        let place = folder.isEmpty ? "." : folder
        guard let identity = FileSystem.identity(of: place) else {
            throw .unwritable(file, reason: "the folder \(place) does not exist")
        }
        if identity == identityOfFolder { throw .inside(file) }
        // SQLite would let all read it.
        try writing(file) { () throws(SystemFailure) in try OpenFile(creating: draft).sync() }
        defer { _ = try? FileSystem.remove(draft) }
        do throws(LogFailure) { try copy(to: draft) } catch {
            if case .full = error { throw .full(file) }
            throw .log(error)
        }
        let isNamed = try writing(file) { () throws(SystemFailure) in
            try OpenFile(reading: draft).sync()
            guard try FileSystem.link(draft, as: file) else { return false }
            try FileSystem.syncDirectory(place)
            return true
        }
        guard isNamed else { throw .taken(file) }
        return FileSystem.length(of: file) ?? 0
    }

    private func writing<Result>(
        _ file: String, _ body: () throws(SystemFailure) -> Result
    ) throws(LogBackupFailure) -> Result {
        do throws(SystemFailure) { return try body() } catch {
            throw error.isOutOfSpace ? .full(file) : .unwritable(file, reason: error.description)
        }
    }
}
