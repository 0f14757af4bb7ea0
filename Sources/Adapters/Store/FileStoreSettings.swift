package import Posix
package import SettingTypes

/// Settings of a file store: where it keeps variants and originals.
package struct FileStoreSettings: Sendable, Equatable {
    /// Empty: `store` below the data directory.
    package var directory = ""
    package var mode = FileMode.readable
    /// Empty: see `originals(in:)`.
    package var originals = ""

    package init() {}

    package func root(in data: String) -> String { directory.isEmpty ? data + "/store" : directory }

    /// Folder of the originals. A separate store may be on another disk, or shared by workers of many machines, so its
    /// originals stay with it.
    package func originals(in data: String) -> String {
        guard originals.isEmpty else { return originals }
        return directory.isEmpty ? data + "/originals" : directory + "/.originals"
    }

    package static let rows: [SettingRow<FileStoreSettings>] = [
        SettingRow(
            "store.directory", \.directory, .path(allowsEmpty: true),
            "Directory of the variants. Empty: store below the data directory. A relative path resolves as data does."),
        SettingRow(
            "store.mode", \.mode, .fileMode,
            "File mode of variants, independent of the umask. Users who may read variants may also enter their folders. All other files belong to the worker alone (0600, folders 0700). In an existing folder, read and enter rights of its group stay (0750). A folder that others may enter, or that its group may write to, becomes 0700."
        ),
        SettingRow(
            "store.originals.directory", \.originals, .path(allowsEmpty: true),
            "Directory of the originals. Only the worker may read it, because originals hold the locations and names that cameras write. Empty: originals below the data directory, or .originals below store.directory if that is set. Originals that lie among the variants are used, too. A directory that contains the store is refused. A relative path resolves as data does."
        ),
    ]
}

extension SettingType where Value == FileMode {
    fileprivate static var fileMode: Self {
        scalar(
            "an octal file mode that lets the owner read and write and nobody execute, such as 0644 or 0640",
            { FileMode($0) }, write: { $0.description })
    }
}
