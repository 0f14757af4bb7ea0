internal import TestSupport

/// Damaged HTTP responses, and how they end: closed, left open, or with a byte now and then.
struct HostileResponses: Sendable {
    let seed: UInt64
    let picture: [UInt8]
    /// Redirect target: `http://127.0.0.1:port`.
    let origin: String

    /// Behaviour of the `number`th response.
    func behaviour(_ number: Int) -> BrokenOrigin.Behaviour {
        // Undamaged responses among the damaged ones must not suffer from them.
        if number.isMultiple(of: 8) {
            return .answer(Array("HTTP/1.1 200 OK\r\nContent-Length: \(picture.count)\r\n\r\n".utf8) + picture)
        }
        var random = SeededRandom(seed: seed &+ UInt64(number))
        var bytes = base(&random)
        let head = bytes.count - picture.count
        if random.below(3) == 0 {
            bytes = Mutation.of(bytes, with: [picture], &random)
        } else {
            // Damages only the head, so that the body still counts.
            let cut = max(0, head)
            bytes =
                Mutation.of(Array(bytes[..<cut]), with: [Array("Transfer-Encoding: chunked\r\n\r\n0;".utf8)], &random)
                + bytes[cut...]
        }
        switch random.below(200) {
        case 0, 1: return .stall(Array(bytes.prefix(random.below(bytes.count + 1))))
        case 2: return .drip(Array(bytes.prefix(random.below(bytes.count + 1))), every: 20)
        case 3: return .flood(bytes, random.pick(Self.floods))
        default: return .answer(bytes)
        }
    }

    private static let floods = ["HTTP/1.1 100 C\r\n\r\n", "A: b\r\n", "1\r\nx\r\n", "1;xxxx", "0\r\n\r\n", "\0"].map {
        Array($0.utf8)
    }

    private func base(_ random: inout SeededRandom) -> [UInt8] {
        let status = [200, 200, 200, 200, 206, 302, 304, 404, 429, 500, 503][random.below(11)]
        var lines = ["HTTP/1.\(random.below(2)) \(status) Some", "Content-Type: image/png"]
        if status == 302 { lines.append("Location: \(origin)/a/\(random.below(1 << 20))") }
        let extra = [
            "Transfer-Encoding: gzip", "Content-Encoding: gzip", "Content-Length: 1",
            "Content-Length: 99999999999999999999",
            "Retry-After: 1", "Connection: close", "Connection: upgrade", "Trailer: X", "Set-Cookie: a=b",
            "X: \(String(repeating: "x", count: random.below(70_000)))",
        ]
        for _ in 0..<random.below(3) { lines.append(random.pick(extra)) }
        if random.below(3) == 0 {
            lines.append("Transfer-Encoding: chunked")
            let size = max(1, picture.count / (1 + random.below(40)))
            var bytes = Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
            for start in stride(from: 0, to: picture.count, by: size) {
                let part = picture[start..<min(picture.count, start + size)]
                bytes += Array("\(String(part.count, radix: 16))\r\n".utf8) + part + [13, 10]
            }
            return bytes + Array("0\r\n\(random.below(4) == 0 ? "X: y\r\n" : "")\r\n".utf8)
        }
        lines.append("Content-Length: \(picture.count)")
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + picture
    }
}
