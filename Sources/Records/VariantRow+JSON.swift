package import Canonical
internal import Digest
package import ImageModel
internal import JSONText
package import VariantSpec

extension VariantRow {
    /// The row as the changelog has it; the key says which variant of which source.
    package func newRecord(partition: PartitionID, traceparent: String? = nil) -> NewRecord {
        var json = JSONWriter(reserving: 448)
        json.beginObject()
        json.key("version")
        json.hex(version.word)
        json.field("width", size.width)
        json.field("height", size.height)
        json.field("bytes", bytes)
        json.key("digest")
        json.hex(digest)
        json.field("location", location)
        json.key("madeFrom")
        json.provenance(madeFrom)
        json.field("sourceWidth", sourceSize.width)
        json.field("sourceHeight", sourceSize.height)
        json.key("region")
        json.beginArray()
        json.number(region.x)
        json.number(region.y)
        json.number(region.width)
        json.number(region.height)
        json.endArray()
        json.field("alpha", hasAlpha)
        json.field("storedAt", storedAt)
        json.field("expires", expires)
        json.placeholderOf(self)
        if let facts {
            json.key("source")
            json.facts(facts)
        }
        json.endObject()
        return NewRecord(
            topic: .variants, partition: partition, key: RecordKey.variant(source, spec).bytes, value: json.bytes,
            headers: EventHeader.event(
                EventHeader.variantStored, id: "\(source.hex)/\(spec)/\(version)-\(expires)", at: storedAt,
                traceparent: traceparent))
    }

    /// The tombstone that drops the row.
    package static func drop(_ spec: VariantSpec, of source: SourceKey, partition: PartitionID) -> NewRecord {
        NewRecord(topic: .variants, partition: partition, key: RecordKey.variant(source, spec).bytes, value: nil)
    }

    /// Fields that a newer version added are left out.
    init(source: SourceKey, spec: VariantSpec, json: [UInt8]) throws(JSONFailure) {
        self = try JSONReader.read(json) { (reader) throws(JSONFailure) -> VariantRow in
            var version: SourceVersion?
            var width: Int?
            var height: Int?
            var bytes: Int?
            var digest: SHA256Digest?
            var location: String?
            var madeFrom: Provenance?
            var sourceWidth: Int?
            var sourceHeight: Int?
            var region: Region?
            var hasAlpha: Bool?
            var storedAt: Int64?
            var expires: Int64?
            var frames: Int?
            var quality: Int?
            var placeholder: [UInt8]?
            var colour: RGB?
            var facts: SourceFacts?
            try reader.openObject()
            while let key = try reader.nextKey() {
                switch key {
                case "version": version = try reader.version()
                case "width": width = try reader.side()
                case "height": height = try reader.side()
                case "bytes": bytes = try reader.integer(in: RowLimits.bytes)
                case "digest": digest = try reader.digest()
                case "location": location = try reader.string()
                case "madeFrom": madeFrom = try reader.provenance()
                case "sourceWidth": sourceWidth = try reader.side()
                case "sourceHeight": sourceHeight = try reader.side()
                case "region": region = try reader.region()
                case "alpha": hasAlpha = try reader.boolean()
                case "storedAt": storedAt = try reader.time()
                case "expires": expires = try reader.time()
                case "frames": frames = try reader.integer(in: RowLimits.frames)
                case "quality": quality = try reader.integer(in: RowLimits.quality)
                case "placeholder": placeholder = try reader.placeholder()
                case "colour": colour = try reader.colour()
                case "source": facts = try reader.facts()
                default: try reader.skip()
                }
            }
            return VariantRow(
                source: source, spec: spec, version: try version.field("version"),
                size: PixelSize(width: try width.field("width"), height: try height.field("height")),
                bytes: try bytes.field("bytes"), digest: try digest.field("digest"),
                location: try location.field("location"), madeFrom: try madeFrom.field("madeFrom"),
                sourceSize: PixelSize(
                    width: try sourceWidth.field("sourceWidth"), height: try sourceHeight.field("sourceHeight")),
                region: try region.field("region"), hasAlpha: try hasAlpha.field("alpha"),
                storedAt: try storedAt.field("storedAt"), expires: try expires.field("expires"), frames: frames ?? 1,
                quality: quality, placeholder: placeholder ?? [], colour: colour, facts: facts)
        }
    }
}
