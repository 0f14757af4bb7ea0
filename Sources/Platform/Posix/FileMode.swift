/// Permissions of files, and of the folders that contain them.
package struct FileMode: Sendable, Hashable, CustomStringConvertible {
    package let files: UInt32
    /// Mode of folders: users who may read files may enter and list folders.
    package var folders: UInt32 { files | (files & 0o444) >> 2 }

    /// Only this process's user.
    package static let own = FileMode(files: 0o600)
    /// Written by this user, read by all.
    package static let readable = FileMode(files: 0o644)

    private init(files: UInt32) { self.files = files }

    /// Parses `0640`; nil unless the owner can read and write, and no user can execute.
    package init?(_ octal: String) {
        guard (3...4).contains(octal.utf8.count), octal.utf8.allSatisfy({ (48...55).contains($0) }),
            let mode = UInt32(octal, radix: 8), mode & ~0o666 == 0, mode & 0o600 == 0o600
        else { return nil }
        files = mode
    }

    package var description: String { "0" + String(files, radix: 8) }
}
