internal import Clocks
internal import HTTPCache

// Encodes the kept headers of a response. A missing text or number is 0. `expires` is in seconds, as in records.
extension RowBytes {
    mutating func put(_ policy: CachePolicy) {
        put(policy.control.text)
        put(policy.expires != nil)
        if let expires = policy.expires { put(expires.milliseconds / 1_000) }
        put(policy.etag ?? "")
        put(policy.lastModified ?? "")
        put(policy.selection?.names.joined(separator: ",") ?? "")
        if let selection = policy.selection { put(word: selection.word) }
        put(policy.location ?? "")
    }
}

extension RowParts {
    mutating func policy() -> CachePolicy {
        let control = CacheControl([text()])
        let expires: WallTime? = flag() ? .epoch + .seconds(number()) : nil
        let (etag, lastModified, names) = (text(), text(), text())
        let selection =
            names.isEmpty ? nil : Selection(names: names.split(separator: ",").map { String($0) }, word: word())
        let location = text()
        return CachePolicy(
            control: control, expires: expires, etag: etag.isEmpty ? nil : etag,
            lastModified: lastModified.isEmpty ? nil : lastModified, selection: selection,
            location: location.isEmpty ? nil : location)
    }
}
