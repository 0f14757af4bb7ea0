internal import CPosix
internal import Glibc

extension Folder {
    /// Checks, without creating anything, whether files can be created in a folder, or the folder itself if it does not
    /// exist. Returns a sentence for people.
    package static func trial(_ path: String) -> (isOK: Bool, message: String) {
        var place = path
        while access(place, F_OK) != 0, let slash = place.lastIndex(of: "/"), slash > place.startIndex {
            place = String(place[..<slash])
        }
        if access(place, F_OK) != 0 { place = "." }
        guard isFolder(place) else { return (false, "\(place) is not a directory. Name another in the settings.") }
        guard access(place, W_OK | X_OK) == 0 else {
            let whole = realpath(place, nil).map { resolved in
                defer { Glibc.free(resolved) }
                return String(cString: resolved)
            }
            return (
                false,
                "\(whole ?? place) is not writable. Give the worker's user the right, or name another directory."
            )
        }
        let free = (FileSystem.freeBytes(of: place) ?? 0) >> 20
        return (true, "\(path) \(place == path ? "is writable" : "will be made"), \(free) MiB are free.")
    }

    package static func isFolder(_ path: String) -> Bool {
        var facts = stat()
        return stat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFDIR
    }
}
