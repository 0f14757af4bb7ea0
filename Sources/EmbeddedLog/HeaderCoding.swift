internal import ImageModel

/// A record's headers as one blob: for each its name and its value, a length in LEB128 before both.
enum HeaderCoding {
    static func encode(_ headers: [RecordHeader]) -> [UInt8] {
        guard !headers.isEmpty else { return [] }
        var blob: [UInt8] = []
        blob.reserveCapacity(headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.count + 4 })
        for header in headers {
            appendLength(header.name.utf8.count, to: &blob)
            blob.append(contentsOf: header.name.utf8)
            appendLength(header.value.count, to: &blob)
            blob.append(contentsOf: header.value)
        }
        return blob
    }

    /// nil if the blob is not whole.
    static func decode(_ blob: UnsafeRawBufferPointer) -> [RecordHeader]? {
        var headers: [RecordHeader] = []
        var rest = blob[...]
        while !rest.isEmpty {
            guard let name = takePart(&rest), let value = takePart(&rest) else { return nil }
            headers.append(RecordHeader(String(decoding: name, as: UTF8.self), Array(value)))
        }
        return headers
    }

    private static func appendLength(_ length: Int, to blob: inout [UInt8]) {
        var left = length
        while left >= 0x80 {
            blob.append(UInt8(truncatingIfNeeded: left) | 0x80)
            left >>= 7
        }
        blob.append(UInt8(left))
    }

    private static func takePart(_ rest: inout Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer>? {
        var (length, shift) = (0, 0)
        while true {
            guard shift < 35, let byte = rest.popFirst() else { return nil }
            length |= Int(byte & 0x7f) << shift
            if byte < 0x80 { break }
            shift += 7
        }
        guard length <= rest.count else { return nil }
        defer { rest = rest.dropFirst(length) }
        return rest.prefix(length)
    }
}
