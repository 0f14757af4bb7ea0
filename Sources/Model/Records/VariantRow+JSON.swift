package import Canonical
internal import Clocks
internal import Digest
package import ImageModel
package import JSONText
package import VariantSpec

extension VariantRow {
    /// The row as a changelog record; the key names the source and the variant.
    package func newRecord(partition: PartitionID, traceparent: String? = nil) -> NewRecord {
        var json = JSONWriter(reserving: 448)
        json.beginObject()
        json.key("version")
        json.hex(version.word)
        json.measures(self)
        json.key("digest")
        json.hex(digest)
        json.field("location", location)
        json.derivedFrom(self, named: "madeFrom")
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
        json.byProducts(self, withSourceSize: false)
        json.endObject()
        return NewRecord(
            topic: .variants, partition: partition, key: RecordKey.variant(source, spec).bytes, value: json.bytes,
            headers: EventHeader.event(
                EventHeader.variantStored, id: "\(source.hex)/\(spec)/\(version)-\(expires.milliseconds)", at: storedAt,
                traceparent: traceparent))
    }

    /// Tombstone that drops the row.
    package static func drop(_ spec: VariantSpec, of source: SourceKey, partition: PartitionID) -> NewRecord {
        NewRecord(topic: .variants, partition: partition, key: RecordKey.variant(source, spec).bytes, value: nil)
    }

    /// Decodes a row; unknown fields of newer versions are ignored.
    init(source: SourceKey, spec: VariantSpec, json: [UInt8]) throws(JSONFailure) {
        self = try JSONReader.read(json) { (reader) throws(JSONFailure) -> VariantRow in
            var fields = VariantFields()
            var version: SourceVersion?
            var digest: SHA256Digest?
            var sourceWidth: Int?
            var sourceHeight: Int?
            var region: Region?
            var storedAt: WallTime?
            var expires: WallTime?
            try reader.openObject()
            while let key = try reader.nextKey() {
                switch key {
                case "version": version = try reader.version()
                case "digest": digest = try reader.digest()
                case "sourceWidth": sourceWidth = try reader.side()
                case "sourceHeight": sourceHeight = try reader.side()
                case "region": region = try reader.region()
                case "storedAt": storedAt = try reader.time()
                case "expires": expires = try reader.time()
                default: try fields.read(key, from: &reader)
                }
            }
            var row = VariantRow(
                source: source, spec: spec, version: try version.field("version"), size: try fields.size(),
                bytes: try fields.bytes.field("bytes"), digest: try digest.field("digest"),
                location: try fields.location.field("location"), derivedFrom: try fields.derivedFrom.field("madeFrom"),
                sourceSize: PixelSize(
                    width: try sourceWidth.field("sourceWidth"), height: try sourceHeight.field("sourceHeight")),
                region: try region.field("region"), hasAlpha: try fields.hasAlpha.field("alpha"),
                storedAt: try storedAt.field("storedAt"), expires: try expires.field("expires"),
                frames: fields.frames ?? 1, quality: fields.quality, placeholder: fields.placeholder,
                colour: fields.colour, facts: fields.facts)
            row.isFromKept = fields.isFromKept
            return row
        }
    }

    /// Writes the fields of the row's object in `mezzotint variants --json`.
    package func list(by json: inout JSONWriter) {
        json.field("spec", spec.description)
        json.measures(self)
        json.field("format", spec.format.rawValue)
        json.derivedFrom(self)
        json.field("storedAt", Timestamp.text(storedAt))
        json.field("expires", Timestamp.text(expires))
        json.field("version", version.description)
        json.field("location", location)
        json.byProducts(self, withSourceSize: true)
    }
}
