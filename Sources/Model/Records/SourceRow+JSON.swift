package import Canonical
internal import Clocks
internal import Digest
internal import HTTPCache
package import ImageModel
internal import JSONText
internal import VariantSpec

extension SourceRow {
    /// The row as a changelog record; the key names the source.
    package func newRecord(partition: PartitionID, traceparent: String? = nil) -> NewRecord {
        var json = JSONWriter(reserving: 448)
        json.beginObject()
        json.field("url", url)
        json.key("version")
        json.hex(version.word)
        json.field("width", size.width)
        json.field("height", size.height)
        json.field("format", format.rawValue)
        json.field("bytes", bytes)
        json.key("digest")
        json.hex(digest)
        json.field("alpha", hasAlpha)
        if isAlphaUnchecked { json.field("alphaUnchecked", true) }
        if frames != 1 { json.field("frames", frames) }
        if let original { json.field("original", original) }
        json.field("fetchedAt", fetchedAt)
        json.field("expires", expires)
        if policy != CachePolicy() { json.policy(policy) }
        if isFocusKnown {
            // An empty `focus` is written for versions that know only a focus: without the field, they look for one in
            // the source.
            json.key(regions.isEmpty ? "focus" : "regions")
            json.beginArray()
            for region in regions {
                json.beginArray()
                for number in region.numbers { json.integer(number) }
                json.endArray()
            }
            json.endArray()
        }
        json.endObject()
        return NewRecord(
            topic: .variants, partition: partition, key: RecordKey.source(source).bytes, value: json.bytes,
            headers: EventHeader.event(
                EventHeader.sourceFetched, id: "\(source.hex)/@source/\(version)-\(expires.milliseconds)", at: fetchedAt,
                traceparent: traceparent))
    }

    /// Tombstone that drops the row.
    package static func drop(_ source: SourceKey, partition: PartitionID) -> NewRecord {
        NewRecord(topic: .variants, partition: partition, key: RecordKey.source(source).bytes, value: nil)
    }

    /// Decodes a row; unknown fields of newer versions are ignored.
    init(source: SourceKey, json: [UInt8]) throws(JSONFailure) {
        self = try JSONReader.read(json) { (reader) throws(JSONFailure) -> SourceRow in
            var url: String?
            var version: SourceVersion?
            var width: Int?
            var height: Int?
            var format: ImageFormat?
            var bytes: Int?
            var digest: SHA256Digest?
            var (hasAlpha, isAlphaUnchecked): (Bool?, Bool) = (nil, false)
            var frames: Int?
            var original: String?
            var fetchedAt: WallTime?
            var expires: WallTime?
            var policy: CachePolicy?
            var regions: [KeptRegion]?
            try reader.openObject()
            while let key = try reader.nextKey() {
                switch key {
                case "url": url = try reader.string()
                case "version": version = try reader.version()
                case "width": width = try reader.side()
                case "height": height = try reader.side()
                case "format": format = try reader.value("an image format") { ImageFormat(rawValue: $0) }
                case "bytes": bytes = try reader.integer(in: RowLimits.bytes)
                case "digest": digest = try reader.digest()
                case "alpha": hasAlpha = try reader.boolean()
                case "alphaUnchecked": isAlphaUnchecked = try reader.boolean()
                case "frames": frames = try reader.integer(in: RowLimits.frames)
                case "original": original = try reader.string()
                case "fetchedAt": fetchedAt = try reader.time()
                case "expires": expires = try reader.time()
                case "http": policy = try reader.policy()
                case "focus": regions = try reader.focus()
                case "regions": regions = try reader.keptRegions()
                default: try reader.skip()
                }
            }
            return SourceRow(
                source: source, url: try url.field("url"), version: try version.field("version"),
                size: PixelSize(width: try width.field("width"), height: try height.field("height")),
                format: try format.field("format"), bytes: try bytes.field("bytes"), digest: try digest.field("digest"),
                hasAlpha: try hasAlpha.field("alpha"), frames: frames ?? 1, original: original,
                fetchedAt: try fetchedAt.field("fetchedAt"),
                expires: try expires.field("expires"), policy: policy ?? CachePolicy(), regions: regions ?? [],
                isFocusKnown: regions != nil, isAlphaUnchecked: isAlphaUnchecked)
        }
    }
}
