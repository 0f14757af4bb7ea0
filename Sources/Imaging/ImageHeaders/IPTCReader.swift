internal import Images

/// By-line, credit and copyright notice of an IPTC-IIM record (IIM 4.2, record 2).
enum IPTCReader {
    /// - Parameter segment: Photoshop's image resources, each starting with `8BIM`; 0x0404 is the record.
    /// - Returns: nil if there is no record.
    static func rights(inPhotoshop segment: ArraySlice<UInt8>) -> PictureRights? {
        var rest = segment
        while rest.count >= 12, rest.starts(with: Array("8BIM".utf8)) {
            let id = number(rest.dropFirst(4), 2)
            // A name with its length before it, padded to an even number of bytes.
            let name = Int(rest[rest.startIndex + 6])
            let data = rest.dropFirst(6 + (name + 2) / 2 * 2)
            guard data.count >= 4 else { return nil }
            let length = number(data, 4)
            guard length <= data.count - 4 else { return nil }
            if id == 0x0404 { return rights(in: data.dropFirst(4).prefix(length)) }
            rest = data.dropFirst(4 + (length + 1) / 2 * 2)
        }
        return nil
    }

    /// - Parameter record: consecutive datasets; reading stops at a damaged one.
    static func rights(in record: ArraySlice<UInt8>) -> PictureRights {
        var (rest, rights, creators) = (record, PictureRights(), [String]())
        while rest.count >= 5, rest[rest.startIndex] == 0x1c {
            let (kind, length) = (number(rest.dropFirst(1), 2), number(rest.dropFirst(3), 2))
            let data = rest.dropFirst(5).prefix(length)
            guard length < 0x8000, data.count == length else { break }
            let text = FoundRights.text(data)
            switch kind {
            case 0x0250 where creators.count < creatorLimit: creators.append(text)
            case 0x026e where rights.credit.isEmpty: rights.credit = text
            case 0x0274 where rights.notice.isEmpty: rights.notice = text
            default: break
            }
            rest = rest.dropFirst(5 + length)
        }
        rights.creator = creators.joined(separator: "; ")
        return rights
    }

    private static let creatorLimit = 8

    private static func number(_ bytes: ArraySlice<UInt8>, _ count: Int) -> Int {
        bytes.prefix(count).reduce(0) { $0 << 8 | Int($1) }
    }
}
