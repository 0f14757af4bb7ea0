internal import Ports
internal import RenderProtocol
internal import VariantSpec

/// An SVG's size in pixels, from the attributes of its root element; what it draws is libvips's to find out.
enum SVGHeader {
    static func read(_ bytes: inout PictureBytes, _ limits: RenderLimits) throws(RenderFailure) -> PictureHeader {
        let head = try bytes.bytes(0, min(16 << 10, bytes.length)) ?? []
        let text = String(decoding: head, as: UTF8.self)
        guard let start = text.range(of: "<svg"), let end = text[start.upperBound...].firstIndex(of: ">") else {
            throw .malformed(.svg, reason: "its root element is not among its first 16 KiB")
        }
        let root = text[start.upperBound..<end]
        let box = (value(of: "viewBox", in: root) ?? "").split { $0 == " " || $0 == "," }.compactMap { Double($0) }
        let own = (pixels(value(of: "width", in: root)), pixels(value(of: "height", in: root)))
        let size: (Double, Double)
        switch own {
        case (let width?, let height?): size = (width, height)
        case _ where box.count == 4: size = (own.0 ?? box[2], own.1 ?? box[3])
        default: throw .malformed(.svg, reason: "it says no size in pixels and no viewBox")
        }
        guard (1..<65_536).contains(size.0), (1..<65_536).contains(size.1) else {
            throw .malformed(.svg, reason: "its size is \(size.0)×\(size.1)")
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

    /// A number alone, or in px; other units depend on a device.
    private static func pixels(_ text: String?) -> Double? {
        guard let text else { return nil }
        return Double(text.hasSuffix("px") ? String(text.dropLast(2)) : text)
    }
}

extension StringProtocol {
    /// The first place of a text: Foundation's is not seen from here.
    fileprivate func range(of text: String) -> Range<Index>? {
        var at = startIndex
        while at < endIndex {
            if self[at...].hasPrefix(text) { return at..<index(at, offsetBy: text.count) }
            at = index(after: at)
        }
        return nil
    }
}
