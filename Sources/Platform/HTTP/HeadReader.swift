/// Reads a response's lines before and after its body, and checks them: limited bytes and lines, few interim responses,
/// no coding, and only one possible end of the body.
///
/// libcurl 7.88.1 decodes up to five layers of `Transfer-Encoding` unasked, on the thread that serves all transfers,
/// and starts as soon as that line has arrived. So a line that names one fails the transfer at once: no byte of a body
/// is then decoded, even if it arrived in the same packet.
package struct HeadReader {
    /// The reason why the body of a complete head cannot be accepted, though its status may count.
    package private(set) var fault: HTTPFailure?
    /// Headers of the newest head; names in lower case.
    package private(set) var headers: [(name: String, value: String)] = []
    private let limit: Int
    private var bytes = 0
    private var lines = 0
    /// Number of heads that were begun; 0 while there is no sign that the server speaks HTTP.
    package private(set) var heads = 0
    private var isOld = false
    private var isBetweenHeads = true

    /// Limit of lines in all heads together, and the trailers.
    private static let lineLimit = 256
    private static let earlyLimit = 8

    /// - Parameter limit: bytes of all lines.
    package init(limit: Int) { self.limit = limit }

    /// Reads one line with its end; true if it ends a head, which may be an interim one.
    package mutating func take(_ line: UnsafeRawBufferPointer) throws(HTTPFailure) -> Bool {
        bytes += line.count
        guard bytes <= limit else { throw .headTooLarge(limit: limit) }
        lines += 1
        guard lines <= Self.lineLimit else {
            throw .malformed(reason: "it has more than \(Self.lineLimit) header lines")
        }
        // libcurl accepts a status line in any case.
        let start = line.prefix(8).map { $0 &- 65 < 26 ? $0 | 32 : $0 }
        if isBetweenHeads, start.starts(with: "http/".utf8) {
            (isBetweenHeads, headers) = (false, [])
            heads += 1
            guard heads <= 1 + Self.earlyLimit else {
                throw .malformed(reason: "more than \(Self.earlyLimit) interim responses come before it")
            }
            isOld = start.elementsEqual("http/1.0".utf8)
            return false
        }
        switch line.first {
        case 13, 10:
            isBetweenHeads = true
            fault = framingFault ?? contentFault
            return true
        case 32, 9:
            // A folded value, which libcurl passes line by line.
            guard let last = headers.indices.last else { return false }
            headers[last].value += " " + text(line[...])
        default:
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return false }
            let (name, value) = (text(line[..<colon]).lowercased(), trimmed(line[(colon + 1)...]))
            headers.append((name, name == "location" ? WireURL.text(value) : String(decoding: value, as: UTF8.self)))
        }
        if let refusal { throw refusal }
        return false
    }

    private func values(_ name: String) -> [String] { headers.filter { $0.name == name }.map(\.value) }

    /// The failure that the newest line causes. Only its own header is checked; checking all lines each time would take
    /// quadratic time.
    private var refusal: HTTPFailure? {
        switch headers.last?.name {
        case "transfer-encoding":
            let values = values("transfer-encoding")
            return values.map { $0.lowercased() } == ["chunked"]
                ? nil : .encoded("Transfer-Encoding: \(brief(values))")
        // A trailer follows the body, so it cannot change the coding: its sender is not trustworthy.
        case "content-encoding" where isBetweenHeads: return .encoded("Content-Encoding among its trailers")
        default: return nil
        }
    }

    private var contentFault: HTTPFailure? {
        let values = values("content-encoding")
        let names = values.joined(separator: ",").split(separator: ",").map {
            $0.filter { !$0.isWhitespace }.lowercased()
        }
        return names.allSatisfy(Self.emptyCodings.contains) ? nil : .encoded("Content-Encoding: \(brief(values))")
    }

    /// Content encodings that encode nothing. S3 keeps `aws-chunked` of an upload on its objects. The others are types
    /// and character sets that uploaders mistake for encodings. Browsers show such images.
    private static let emptyCodings: Set = [
        "", "identity", "none", "binary", "7bit", "8bit", "utf-8", "utf8", "aws-chunked",
    ]

    private var framingFault: HTTPFailure? {
        let lengths = Set(values("content-length"))
        if lengths.count > 1 { return .malformed(reason: "it has more than one length") }
        if values("transfer-encoding").isEmpty { return nil }
        if isOld { return .malformed(reason: "HTTP/1.0 has no transfer encodings") }
        return lengths.isEmpty ? nil : .malformed(reason: "it has a length and a transfer encoding")
    }

    /// Printable, shortened text for a message.
    private func brief(_ values: [String]) -> String {
        let printable = values.joined(separator: ", ").unicodeScalars.filter { (32..<127).contains($0.value) }
        return String(String.UnicodeScalarView(printable).prefix(64))
    }

    private func text(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
        String(decoding: trimmed(bytes), as: UTF8.self)
    }

    private func trimmed(_ bytes: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
        let blank: (UInt8) -> Bool = { $0 <= 32 }
        guard let first = bytes.firstIndex(where: { !blank($0) }), let last = bytes.lastIndex(where: { !blank($0) })
        else { return bytes.prefix(0) }
        return bytes[first...last]
    }
}
