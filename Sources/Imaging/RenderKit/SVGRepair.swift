package import VariantSpec

/// Sets the size of an SVG's root in pixels.
///
/// libvips 8.14.1 scales a root's px by 96/72, but no other unit: with two units its picture gets another shape than
/// the root.
package enum SVGRepair {
    /// The file with the root's width and height in pixels; nil if both have the same unit, or one is missing.
    package static func repaired(_ file: UnsafeRawBufferPointer, _ size: PixelSize) -> [UInt8]? {
        // The same range that the header reader searches.
        let head = Array(file.prefix(16 << 10))
        guard let root = Self.root(of: head), let width = value(of: "width", in: root),
            let height = value(of: "height", in: root), unit(of: width) != unit(of: height),
            // One attribute may lie inside the quotes of the other.
            !width.indices.overlaps(height.indices)
        else { return nil }
        var bytes = Array(file)
        let isWidthFirst = width.startIndex < height.startIndex
        let (first, last) = isWidthFirst ? (width.indices, height.indices) : (height.indices, width.indices)
        // The later attribute first, so that the earlier one keeps its position.
        bytes.replaceSubrange(last, with: Array(String(isWidthFirst ? size.height : size.width).utf8))
        bytes.replaceSubrange(first, with: Array(String(isWidthFirst ? size.width : size.height).utf8))
        return bytes
    }

    /// The root's tag without its end. Skips the declaration, comments and document type.
    private static func root(of head: [UInt8]) -> ArraySlice<UInt8>? {
        var rest = head[...]
        while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
            rest = rest[start...]
            var close = ">"
            if rest.starts(with: "<?".utf8) {
                close = "?>"
            } else if rest.starts(with: "<!--".utf8) {
                close = "-->"
            } else if rest.starts(with: "<!".utf8) {
                // A document type may declare entities.
                if rest.prefix(while: { $0 != UInt8(ascii: ">") }).contains(UInt8(ascii: "[")) { close = "]>" }
            } else {
                guard rest.starts(with: "<svg".utf8) else { return nil }
                return rest.firstIndex(of: UInt8(ascii: ">")).map { rest[..<$0] }
            }
            guard let behind = index(behind: close, in: rest) else { return nil }
            rest = rest[behind...]
        }
        return nil
    }

    private static func value(of name: String, in root: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        var rest = root
        while let behind = index(behind: name, in: rest) {
            rest = rest[behind...]
            let after = rest.drop(while: isSpace)
            // The root's own name comes first, so a byte precedes each attribute.
            guard isSpace(root[behind - name.utf8.count - 1]), after.first == UInt8(ascii: "=") else { continue }
            let quoted = after.dropFirst().drop(while: isSpace)
            guard let mark = quoted.first, mark == UInt8(ascii: "\"") || mark == UInt8(ascii: "'") else { return nil }
            return quoted.dropFirst().prefix(while: { $0 != mark })
        }
        return nil
    }

    /// The unit; `px` if the value names none.
    private static func unit(of value: ArraySlice<UInt8>) -> String {
        let text = String(decoding: value, as: UTF8.self).lowercased()
        let unit = String(text.reversed().prefix { $0.isLetter || $0 == "%" }.reversed())
        return unit.isEmpty ? "px" : unit
    }

    private static func index(behind text: String, in bytes: ArraySlice<UInt8>) -> Int? {
        guard let found = bytes.indices.first(where: { bytes[$0...].starts(with: text.utf8) }) else { return nil }
        return found + text.utf8.count
    }

    private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0a, 0x0d].contains(byte) }
}
