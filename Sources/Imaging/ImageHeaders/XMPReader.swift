internal import Images

/// Reads four properties of an XMP packet (ISO 16684-1), and its marked regions, in one pass without a parser's tree.
/// An inspector has no XML library, since one would cost it 30 MB.
///
/// The picture's own properties are attributes and children of the descriptions directly below `rdf:RDF`. Deeper
/// elements describe pictures that it was composed of.
struct XMPReader {
    private enum Property { case creator, credit, notice, sourceType }
    private static let rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    private static let properties: [String: Property] = [
        "http://purl.org/dc/elements/1.1/ creator": .creator,
        "http://purl.org/dc/elements/1.1/ rights": .notice,
        "http://ns.adobe.com/photoshop/1.0/ Credit": .credit,
        "http://iptc.org/std/Iptc4xmpExt/2008-02-29/ DigitalSourceType": .sourceType,
    ]
    /// Namespaces of the required names. Other namespaces are not kept: each name of a packet would hold a copy of a
    /// URI of its author's choice (64 KiB took 105 MB).
    private static let known = Set(
        (Array(properties.keys) + MarkedRegions.names + [rdf]).map { name in String(name.prefix { $0 != " " }) })
    /// Bytes of one text that are read.
    private static let textLimit = 4096
    /// Most namespaces that are kept: a packet of Photoshop declares a dozen.
    private static let namespaceLimit = 64

    private var rest: ArraySlice<UInt8>
    private var rights = PictureRights()
    private var namespaces: [String: String] = [:]
    private var depth = 0
    /// Depth of `rdf:RDF`, while it is open.
    private var root: Int?
    /// The property whose element is open.
    private var property: Property?
    private var text: [UInt8] = []
    private var items: [String] = []
    /// Whether the open item applies to every language.
    private var isDefault = false
    private var marked = MarkedRegions()
    /// Whether the open property marks regions.
    private var isMarking = false
    /// Text before the current tag.
    private var before: ArraySlice<UInt8> = []

    /// Reads as much of a packet as possible: reading stops at damage.
    static func read(_ packet: ArraySlice<UInt8>) -> (rights: PictureRights, marked: MarkedRegions) {
        var reader = XMPReader(rest: packet)
        while reader.step() {}
        return (reader.rights, reader.marked)
    }

    private init(rest: ArraySlice<UInt8>) { self.rest = rest }

    /// Reads the text before the next tag, and the tag; false at the end.
    private mutating func step() -> Bool {
        guard let start = rest.firstIndex(of: UInt8(ascii: "<")) else { return false }
        before = rest[..<start]
        if property != nil { text += before }
        rest = rest[start...].dropFirst()
        if rest.starts(with: "!--".utf8) { return skip("-->") }
        if rest.starts(with: "?".utf8) { return skip("?>") }
        // XMP has no document type and no unescaped text.
        guard let first = rest.first, first != UInt8(ascii: "!") else { return false }
        guard let end = tagEnd() else { return false }
        var tag = rest[..<end]
        rest = rest[end...].dropFirst()
        if first == UInt8(ascii: "/") {
            close(Self.name(of: tag.dropFirst()))
            return depth > 0
        }
        let isEmpty = tag.last == UInt8(ascii: "/")
        if isEmpty { tag = tag.dropLast() }
        depth += 1
        open(tag)
        if isEmpty {
            before = []
            close(Self.name(of: tag))
        }
        return true
    }

    private mutating func open(_ tag: ArraySlice<UInt8>) {
        let attributes = Self.attributes(of: tag)
        for (name, value) in attributes where name.hasPrefix("xmlns:") && namespaces.count < Self.namespaceLimit {
            namespaces[String(name.dropFirst(6))] = Self.known.contains(value) ? value : ""
        }
        let name = full(Self.name(of: tag))
        if isMarking { marked.open(name, attributes.map { (full($0.name), $0.value) }) }
        guard let root else {
            if name == Self.rdf + " RDF" { self.root = depth }
            return
        }
        if depth == root + 1 {
            for (name, value) in attributes { Self.properties[full(name)].map { set($0, value) } }
        } else if depth == root + 2 {
            (property, text, items) = (Self.properties[name], [], [])
            // A property that is a URI may use this form; the marker of machine-made pictures usually does.
            if let property, let uri = attributes.first(where: { full($0.name) == Self.rdf + " resource" }) {
                set(property, uri.value)
            }
            isMarking = MarkedRegions.properties.contains(name)
        } else if depth == root + 4, property != nil, name == Self.rdf + " li" {
            text = []
            isDefault = attributes.contains { $0.name == "xml:lang" && $0.value == "x-default" }
        }
    }

    private mutating func close(_ name: String) {
        depth -= 1
        guard let root else { return }
        if isMarking { marked.close(full(name)) { Self.unescaped(before) } }
        if depth <= root + 1 { isMarking = false }
        if depth < root { self.root = nil }
        guard let property else { return }
        if depth == root + 1 {
            let plain = Self.unescaped(text[...])
            switch property {
            case .creator: set(property, items.isEmpty ? plain : items.joined(separator: "; "))
            default: set(property, items.first ?? plain)
            }
            self.property = nil
        } else if depth == root + 3 {
            let item = Self.unescaped(text[...])
            if isDefault { items.insert(item, at: 0) } else { items.append(item) }
            (text, isDefault) = ([], false)
        }
    }

    private mutating func set(_ property: Property, _ value: String) {
        switch property {
        case .creator where rights.creator.isEmpty: rights.creator = value
        case .credit where rights.credit.isEmpty: rights.credit = value
        case .notice where rights.notice.isEmpty: rights.notice = value
        case .sourceType where rights.sourceType.isEmpty: rights.sourceType = value
        default: break
        }
    }

    /// Joins namespace and name.
    private func full(_ name: String) -> String {
        let parts = name.split(separator: ":", maxSplits: 1)
        guard parts.count == 2 else { return name }
        return (namespaces[String(parts[0])] ?? "") + " " + parts[1]
    }

    private mutating func skip(_ mark: String) -> Bool {
        let mark = Array(mark.utf8)
        while let index = rest.firstIndex(of: mark[0]) {
            rest = rest[index...]
            if rest.starts(with: mark) {
                rest = rest.dropFirst(mark.count)
                return true
            }
            rest = rest.dropFirst()
        }
        return false
    }

    /// Position of the tag's `>`, outside quotes.
    private func tagEnd() -> Int? {
        var quote: UInt8?
        for index in rest.indices {
            let byte = rest[index]
            if quote == byte {
                quote = nil
            } else if quote == nil {
                if byte == UInt8(ascii: ">") { return index }
                if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") { quote = byte }
            }
        }
        return nil
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 32 || (9...13).contains(byte) }

    private static func name(of tag: ArraySlice<UInt8>) -> String {
        String(decoding: tag.prefix { !isSpace($0) }, as: UTF8.self)
    }

    private static func attributes(of tag: ArraySlice<UInt8>) -> [(name: String, value: String)] {
        var (rest, found) = (tag.drop { !isSpace($0) }, [(name: String, value: String)]())
        while true {
            rest = rest.drop(while: isSpace)
            let name = rest.prefix { $0 != UInt8(ascii: "=") && !isSpace($0) }
            rest = rest[name.endIndex...].drop { isSpace($0) || $0 == UInt8(ascii: "=") }
            guard let quote = rest.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
                return found
            }
            let value = rest.dropFirst().prefix { $0 != quote }
            found.append((String(decoding: name, as: UTF8.self), unescaped(value)))
            rest = rest[value.endIndex...].dropFirst()
        }
    }

    /// The text with its references replaced; invalid references stay unchanged.
    private static func unescaped(_ text: ArraySlice<UInt8>) -> String {
        let text = String(decoding: text.prefix(textLimit), as: UTF8.self)
        guard text.contains("&") else { return text }
        var (out, rest) = ("", text[...])
        while let start = rest.firstIndex(of: "&") {
            out += rest[..<start]
            rest = rest[start...]
            guard let end = rest.prefix(12).firstIndex(of: ";"), let character = reference(rest[..<end].dropFirst())
            else {
                out.append("&")
                rest = rest.dropFirst()
                continue
            }
            out.unicodeScalars.append(character)
            rest = rest[end...].dropFirst()
        }
        return out + rest
    }

    private static func reference(_ name: Substring) -> Unicode.Scalar? {
        switch name {
        case "amp": "&"
        case "lt": "<"
        case "gt": ">"
        case "quot": "\""
        case "apos": "'"
        case _ where name.hasPrefix("#x"): UInt32(name.dropFirst(2), radix: 16).flatMap { Unicode.Scalar($0) }
        case _ where name.hasPrefix("#"): UInt32(name.dropFirst()).flatMap { Unicode.Scalar($0) }
        default: nil
        }
    }
}
