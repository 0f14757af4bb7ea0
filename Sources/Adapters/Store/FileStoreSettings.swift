package import Posix
package import SettingTypes

/// Where a file store keeps variants and originals.
package struct FileStoreSettings: Sendable, Equatable {
    /// Empty: `store` below the data directory.
    package var directory = ""
    package var mode = FileMode.readable
    /// Empty: see `originals(in:)`.
    package var originals = ""

    package init() {}

    package func root(in data: String) -> String { directory.isEmpty ? data + "/store" : directory }

    /// A store of its own may be on another disk, or shared by the workers of many machines: its originals stay with it.
    package func originals(in data: String) -> String {
        guard originals.isEmpty else { return originals }
        return directory.isEmpty ? data + "/originals" : directory + "/.originals"
    }

    package static let rows: [SettingRow<FileStoreSettings>] = [
        SettingRow(
            "store.directory", \.directory, .path(allowsEmpty: true),
            "Where variants are kept. Empty: store below the data directory. Relative like data."),
        SettingRow(
            "store.mode", \.mode, .fileMode,
            "The rights of variants, whatever the umask; their folders can be entered by those who may read them. All other files are the worker's alone (0600 and 0700). A folder that was there keeps what its group may read and enter (0750); one that others may enter, or its group may write, becomes 0700."
        ),
        SettingRow(
            "store.originals.directory", \.originals, .path(allowsEmpty: true),
            "Where originals are kept, for the worker alone: they have the places and names that cameras write. Empty: originals below the data directory, or .originals below store.directory if that is set. Those that older versions kept among the variants stay there, and are used. Never a folder that the store lies in. Relative like data."
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
