/// Ownership of an image, and whether a machine made it, as its file states them. Variants keep this part of the
/// metadata.
///
/// Every text is cleaned when it is set: one line, no control characters, cut to its limit. The file may be hostile.
package struct PictureRights: Sendable, Hashable {
    /// By-line: IPTC 2:80, EXIF Artist, XMP dc:creator, PNG Author.
    package var creator: String { didSet { creator = Self.line(creator, limit: 256) } }
    /// Credit line: IPTC 2:110, XMP photoshop:Credit.
    package var credit: String { didSet { credit = Self.line(credit, limit: 256) } }
    /// Copyright notice: IPTC 2:116, EXIF Copyright, XMP dc:rights, PNG Copyright.
    package var notice: String { didSet { notice = Self.line(notice, limit: 640) } }
    /// Source type: XMP Iptc4xmpExt:DigitalSourceType, such as
    /// `http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia`. A term outside IPTC's vocabulary is
    /// dropped.
    package var sourceType: String { didSet { sourceType = Self.term(sourceType) } }

    package init(creator: String = "", credit: String = "", notice: String = "", sourceType: String = "") {
        self.creator = Self.line(creator, limit: 256)
        self.credit = Self.line(credit, limit: 256)
        self.notice = Self.line(notice, limit: 640)
        self.sourceType = Self.term(sourceType)
    }

    package var isEmpty: Bool { creator.isEmpty && credit.isEmpty && notice.isEmpty && sourceType.isEmpty }

    /// The same rights, with empty texts taken from another value.
    package func filled(from other: PictureRights) -> PictureRights {
        PictureRights(
            creator: creator.isEmpty ? other.creator : creator, credit: credit.isEmpty ? other.credit : credit,
            notice: notice.isEmpty ? other.notice : notice,
            sourceType: sourceType.isEmpty ? other.sourceType : sourceType)
    }

    /// - Parameter limit: most bytes in XML. With these limits, the four texts and the rest of a block stay below 2
    ///   KiB.
    private static func line(_ text: String, limit: Int) -> String {
        var (line, bytes, hasGap) = (String.UnicodeScalarView(), 0, false)
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator, .spaceSeparator: hasGap = !line.isEmpty
            case .unassigned, .privateUse, .surrogate: continue
            default:
                let gap: [Unicode.Scalar] = hasGap ? [" "] : []
                bytes += gap.count + escapedBytes(scalar)
                guard bytes <= limit else { return String(line) }
                line += gap + [scalar]
                hasGap = false
            }
        }
        return String(line)
    }

    private static func escapedBytes(_ scalar: Unicode.Scalar) -> Int {
        switch scalar {
        case "&", "<", ">", "\"": 6
        default: UTF8.width(scalar)
        }
    }

    /// The text with XML's special characters escaped.
    package static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;")
    }

    private static func term(_ text: String) -> String {
        let name = text.drop { $0.isWhitespace }.split(separator: "/").last ?? ""
        let list = "cv.iptc.org/newscodes/digitalsourcetype/"
        guard ["http://", "https://"].contains(where: { text.contains($0 + list + name) }),
            (1...64).contains(name.utf8.count),
            name.utf8.allSatisfy({ UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 | 0x20 })
        else { return "" }
        return "http://" + list + name
    }
}
