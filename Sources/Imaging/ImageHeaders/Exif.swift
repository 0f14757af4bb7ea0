internal import Images
internal import RenderProtocol
internal import VariantSpec

/// The fields of an EXIF block that a render needs: orientation and copyright metadata.
struct Exif {
    private(set) var orientation: Orientation?
    private(set) var rights = PictureRights()
    /// Positions of an XMP packet and an IPTC record, which a TIFF stores as fields.
    private(set) var blocks: [Int: Range<Int>] = [:]
    static let (packet, record) = (0x02bc, 0x83bb)

    /// Bytes of one text that are read.
    private static let textLimit = 4096

    /// Reads an EXIF block; missing and invalid fields stay unset.
    init(_ bytes: inout PictureBytes, in block: Range<Int>) throws(RenderFailure) {
        try self.init(&bytes, try TIFFDirectory(&bytes, in: block))
    }

    init(_ bytes: inout PictureBytes, _ directory: TIFFDirectory?) throws(RenderFailure) {
        guard let directory else { return }
        // The standard requires SHORT; some programs write LONG.
        if let kind = directory.fields[0x0112]?.kind, kind == 3 || kind == 4 {
            orientation = try directory.first(0x0112, &bytes).flatMap { Orientation(rawValue: $0) }
        }
        for tag in [Self.packet, Self.record] {
            blocks[tag] = directory.fields[tag].flatMap { $0.values.count > 4 ? $0.values : nil }
        }
        // These texts lie behind the directory: reading an earlier position costs a second read.
        func text(_ tag: Int) throws(RenderFailure) -> String {
            guard let field = directory.fields[tag], field.kind == 2,
                let text = try bytes.bytes(field.values.lowerBound, min(field.count, Self.textLimit))
            else { return "" }
            // The field may hold a photographer's notice and an editor's, each ending with a zero.
            return text.split(separator: 0).map { FoundRights.text($0) }.first { !$0.allSatisfy(\.isWhitespace) } ?? ""
        }
        rights = PictureRights(creator: try text(0x013b), notice: try text(0x8298))
    }
}
