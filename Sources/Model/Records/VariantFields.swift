internal import ImageModel
internal import JSONText
internal import VariantSpec

/// JSON fields of a variant that its row, an outcome and the list of `mezzotint variants` have in common.
///
/// Each of the three has other fields too, and an order of its own, which scripts and stored records rely on.
struct VariantFields {
    private var width: Int?
    private var height: Int?
    private(set) var bytes: Int?
    private(set) var location: String?
    private(set) var derivedFrom: Provenance?
    private(set) var isFromKept = false
    private(set) var hasAlpha: Bool?
    private(set) var frames: Int?
    private(set) var quality: Int?
    private(set) var placeholder: [UInt8] = []
    private(set) var colour: RGB?
    private(set) var facts: SourceFacts?

    /// Reads the value of `key`, or skips it if it is none of these fields.
    mutating func read(_ key: JSONKey, from reader: inout JSONReader) throws(JSONFailure) {
        switch key {
        case "width": width = try reader.side()
        case "height": height = try reader.side()
        case "bytes": bytes = try reader.integer(in: RowLimits.bytes)
        case "location": location = try reader.string()
        // The second name: in rows of the changelog, and in outcomes of workers before 0.2.0.
        case "derivedFrom", "madeFrom": derivedFrom = try reader.provenance()
        case "keptOriginal": isFromKept = try reader.boolean()
        case "alpha": hasAlpha = try reader.boolean()
        case "frames": frames = try reader.integer(in: RowLimits.frames)
        case "quality": quality = try reader.integer(in: RowLimits.quality)
        case "placeholder": placeholder = try reader.placeholder()
        case "colour": colour = try reader.colour()
        case "source": facts = try reader.facts()
        default: try reader.skip()
        }
    }

    func size() throws(JSONFailure) -> PixelSize {
        PixelSize(width: try width.field("width"), height: try height.field("height"))
    }

    /// nil if the variant failed.
    var sizeIfKnown: PixelSize? { try? size() }
}

extension JSONWriter {
    mutating func measures(_ row: VariantRow) {
        field("width", row.size.width)
        field("height", row.size.height)
        field("bytes", row.bytes)
    }

    mutating func derivedFrom(_ row: VariantRow, named name: StaticString = "derivedFrom") {
        key(name)
        switch row.derivedFrom {
        case .origin: string("origin")
        case .donor(let spec): self.spec(spec)
        }
        guard row.isFromKept else { return }
        key("keptOriginal")
        boolean(true)
    }

    /// Writes by-products of a decode: the appearance of the variant before it is loaded, and the properties of its
    /// source. `frames` and `quality` are written only if they differ from the spec's.
    mutating func byProducts(_ row: VariantRow, withSourceSize: Bool) {
        if row.frames != 1 { field("frames", row.frames) }
        if row.quality != row.spec.quality { field("quality", row.quality) }
        if !row.placeholder.isEmpty { field("placeholder", Base64.text(row.placeholder)) }
        if let colour = row.colour { field("colour", "#" + colour.hex) }
        guard let facts = row.facts else { return }
        key("source")
        beginObject()
        field("format", facts.format.rawValue)
        if withSourceSize {
            field("width", row.sourceSize.width)
            field("height", row.sourceSize.height)
        }
        field("frames", facts.frames)
        field("alpha", facts.hasAlpha)
        field("orientation", facts.orientation)
        field("truncated", facts.isTruncated)
        if facts.ignoresProfile { field("profileIgnored", true) }
        if let isDrawing = facts.isDrawing { field("drawing", isDrawing) }
        endObject()
    }
}

extension JSONReader {
    fileprivate mutating func placeholder() throws(JSONFailure) -> [UInt8] {
        try value("a ThumbHash in base 64") { text in Base64.bytes(text).flatMap { $0.count <= 64 ? $0 : nil } }
    }

    fileprivate mutating func colour() throws(JSONFailure) -> RGB {
        try value("a colour such as #f0f0f0") { $0.hasPrefix("#") ? RGB(hex: $0.utf8.dropFirst()) : nil }
    }

    fileprivate mutating func facts() throws(JSONFailure) -> SourceFacts {
        var format: ImageFormat?
        var frames: Int?
        var hasAlpha: Bool?
        var orientation: Int?
        var (isTruncated, ignoresProfile, isDrawing): (Bool?, Bool?, Bool?)
        try openObject()
        while let key = try nextKey() {
            switch key {
            case "format": format = try value("an image format") { ImageFormat(rawValue: $0) }
            case "frames": frames = try integer(in: RowLimits.frames)
            case "alpha": hasAlpha = try boolean()
            case "orientation": orientation = try integer(in: RowLimits.orientation)
            case "truncated": isTruncated = try boolean()
            case "profileIgnored": ignoresProfile = try boolean()
            case "drawing": isDrawing = try boolean()
            default: try skip()
            }
        }
        var facts = SourceFacts(
            format: try format.field("format"), frames: frames ?? 1, hasAlpha: try hasAlpha.field("alpha"),
            orientation: orientation ?? 1, isTruncated: isTruncated ?? false,
            ignoresProfile: ignoresProfile ?? false)
        facts.isDrawing = isDrawing
        return facts
    }
}
