internal import Clocks
internal import Digest
internal import HTTPCache
internal import JSONText

// The caching headers that a source's row keeps: the field `http`. `expires` is in seconds.
extension JSONWriter {
    mutating func policy(_ policy: CachePolicy) {
        key("http")
        beginObject()
        let control = policy.control.text
        if !control.isEmpty { field("cacheControl", control) }
        if let expires = policy.expires { field("expires", expires.milliseconds / 1_000) }
        if let etag = policy.etag { field("etag", etag) }
        if let lastModified = policy.lastModified { field("lastModified", lastModified) }
        if let selection = policy.selection {
            field("vary", selection.names.joined(separator: ","))
            key("chosenBy")
            hex(selection.word)
        }
        if let location = policy.location { field("location", location) }
        endObject()
    }
}

extension JSONReader {
    mutating func policy() throws(JSONFailure) -> CachePolicy {
        var control = CacheControl()
        var expires: WallTime?
        var etag: String?
        var lastModified: String?
        var names: [String]?
        var word: UInt64 = 0
        var location: String?
        try openObject()
        while let key = try nextKey() {
            switch key {
            case "cacheControl": control = CacheControl([try string()])
            case "expires": expires = RecordLimits.time(.epoch + .seconds(try integer()))
            case "etag": etag = try string()
            case "lastModified": lastModified = try string()
            case "vary": names = try string().split(separator: ",").map { String($0) }
            case "chosenBy": word = try value("16 hexadecimal digits") { Hex.word(Array($0.utf8)) }
            case "location": location = try string()
            default: try skip()
            }
        }
        return CachePolicy(
            control: control, expires: expires, etag: etag, lastModified: lastModified,
            selection: names.map { Selection(names: $0, word: word) }, location: location)
    }
}
