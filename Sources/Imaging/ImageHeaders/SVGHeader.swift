internal import Images
internal import RenderProtocol
internal import VariantSpec

/// Reads an SVG's size in pixels from the attributes of its root element; libvips interprets the drawing.
enum SVGHeader {
    static func read(_ bytes: inout PictureBytes, _ limits: RenderLimits) throws(RenderFailure) -> PictureHeader {
        let head = try bytes.bytes(0, min(16 << 10, bytes.length)) ?? []
        guard let start = root(of: String(decoding: head, as: UTF8.self)), let end = start.firstIndex(of: ">") else {
            throw .unsupportedFeature(.svg, reason: "its root element is not among its first 16 KiB")
        }
        let root = start[..<end]
        let box = (value(of: "viewBox", in: root) ?? "").split { $0.isWhitespace || $0 == "," }.compactMap {
            Double($0)
        }
        let hasBox = box.count == 4 && box[2] > 0 && box[3] > 0
        let font = fontSize(of: root)
        let own = (pixels(value(of: "width", in: root), font), pixels(value(of: "height", in: root), font))
        let size: (Double, Double)
        switch own {
        case (let width?, let height?): size = (width, height)
        case (let width?, nil) where hasBox: size = (width, width * box[3] / box[2])
        case (nil, let height?) where hasBox: size = (height * box[2] / box[3], height)
        case _ where hasBox: size = (box[2], box[3])
        default:
            throw .unsupportedFeature(
                .svg, reason: "its root has no viewBox, and its width and height are not both lengths in a known unit")
        }
        guard (1..<65_536).contains(size.0), (1..<65_536).contains(size.1) else {
            throw .unsupportedFeature(
                .svg, reason: "its size is \(size.0)×\(size.1) pixels, and each side must be 1 to 65,535")
        }
        var header = PictureHeader(
            stored: try PixelSize(Int(size.0.rounded()), Int(size.1.rounded()), of: .svg))
        header.hasAlpha = true
        return header
    }

    private static func value(of name: String, in element: Substring) -> String? {
        var rest = element
        while let found = rest.range(of: name) {
            let before = element[..<found.lowerBound].last
            rest = rest[found.upperBound...]
            let after = rest.drop { $0.isWhitespace }
            guard before?.isWhitespace == true, after.first == "=" else { continue }
            let quoted = after.dropFirst().drop { $0.isWhitespace }
            guard let mark = quoted.first, mark == "\"" || mark == "'" else { return nil }
            return String(quoted.dropFirst().prefix { $0 != mark })
        }
        return nil
    }

    /// CSS pixels in each unit (CSS Values 4, 6.2).
    private static let units = [
        "": 1, "px": 1, "in": 96, "cm": 96 / 2.54, "mm": 96 / 25.4, "pt": 96.0 / 72, "pc": 16,
    ]
    private static let usualFont = 16.0

    /// Font size of the root in pixels, which `em` and `ex` in its sides refer to. Style sheets are not read.
    private static func fontSize(of root: Substring) -> Double {
        let declared = (value(of: "style", in: root) ?? "").split(separator: ";").compactMap { declaration -> String? in
            let parts = declaration.split(separator: ":", maxSplits: 1).map { $0.filter { !$0.isWhitespace } }
            return parts.count == 2 && parts[0].lowercased() == "font-size" ? parts[1] : nil
        }
        guard let text = declared.last ?? value(of: "font-size", in: root) else { return usualFont }
        if text.hasSuffix("%") { return Double(text.dropLast()).map { $0 / 100 * usualFont } ?? usualFont }
        return pixels(text, usualFont) ?? usualFont
    }

    /// - Parameter font: font size for `em` and `ex`, in pixels. Percentages have no base here.
    private static func pixels(_ text: String?, _ font: Double) -> Double? {
        guard let text = text?.lowercased() else { return nil }
        // A digit follows the e of a number's exponent.
        let unit = String(text.reversed().prefix { $0.isLetter }.reversed())
        let fonts = ["em": font, "ex": font / 2]
        guard let factor = units[unit] ?? fonts[unit], let number = Double(text.dropLast(unit.count)) else { return nil }
        return number * factor
    }

    /// The text from its `<svg` root element on; nil if its root is another one. Skips the declaration, comments and
    /// document type.
    static func root(of text: String) -> Substring? {
        func trimmed(_ text: Substring) -> Substring { text.drop { $0.isWhitespace || $0 == "\u{feff}" } }
        var rest = trimmed(text[...])
        while rest.hasPrefix("<?") || rest.hasPrefix("<!") {
            var close = rest.hasPrefix("<?") ? "?>" : rest.hasPrefix("<!--") ? "-->" : ">"
            // A document type may declare entities.
            if close == ">", rest.prefix(while: { $0 != ">" }).contains("[") { close = "]>" }
            guard let end = rest.range(of: close) else { return nil }
            rest = trimmed(rest[end.upperBound...])
        }
        return rest.hasPrefix("<svg") ? rest : nil
    }
}

extension StringProtocol {
    /// Range of the first occurrence of a text: this module does not import Foundation.
    fileprivate func range(of text: String) -> Range<Index>? {
        var at = startIndex
        while at < endIndex {
            if self[at...].hasPrefix(text) { return at..<index(at, offsetBy: text.count) }
            at = index(after: at)
        }
        return nil
    }
}
