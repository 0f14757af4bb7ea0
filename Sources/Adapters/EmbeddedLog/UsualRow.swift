/// What most rows of a changelog have in common, in the order in which they have it: packed rows say what they have of it by
/// its place here (`RowPacking`).
///
/// Part of the file's form. A row that grows other fields stays right, and becomes a little larger; another text needs a mark
/// of its own beside `LogTable.packed`.
enum UsualRow {
    static let bytes: [UInt8] = Array((others + source + variant).utf8)

    private static let others = #""png""webp""gif""avif""heic""tiff"true.png.jpg.avif"#

    private static let source =
        headers("source.fetched", idLength: 0x63) + "/@source/-17" + #"\#u{07}ce_time\#u{18}2026-T:Z"#
        + #"\#u{0B}traceparent\#u{37}00-\#u{08}mz_epoch\#u{01}1"#
        + #"{"url":"https://http://.jpg","version":"","width":,"height":,"format":"jpeg","bytes":,"digest":"","alpha":false,"#
        + #""original":"/original.jpg","fetchedAt":17,"expires":17}"#

    private static let variant =
        headers("variant.stored", idLength: 0x6A) + "-q80.webp/" + #"\#u{07}ce_time\#u{18}2026-\#u{08}mz_epoch\#u{02}"#
        + #"{"version":"","width":,"height":,"bytes":,"digest":"","location":"-q80.webp","madeFrom":"origin","sourceWidth":,"#
        + #""sourceHeight":,"region":[0,0,],"alpha":false,"storedAt":17,"expires":17,"frames":,"quality":,"placeholder":"","#
        + ##""colour":"#","source":{"format":"jpeg","frames":1,"alpha":false,"orientation":1,"truncated":false}}"##

    /// Names and values, each after its length.
    private static func headers(_ kind: String, idLength: UInt8) -> String {
        let fixed = [
            "ce_specversion", "1.0", "ce_source", "/mezzotint", "ce_type", "mezzotint.\(kind).v1", "content-type",
            "application/json", "ce_id",
        ]
        return fixed.map { "\(Character(UnicodeScalar(UInt8($0.utf8.count))))\($0)" }.joined()
            + "\(Character(UnicodeScalar(idLength)))"
    }

    /// Of each hash, the place after the first that has it, and for each place the next with the same.
    private static let index: (first: [UInt16], next: [UInt16]) = {
        var first = [UInt16](repeating: 0, count: 1 << 11)
        var next = [UInt16](repeating: 0, count: bytes.count)
        for place in (0...bytes.count - 4).reversed() {
            let hash = hash(bytes, place, bits: 11)
            (next[place], first[hash]) = (first[hash], UInt16(place + 1))
        }
        return (first, next)
    }()

    /// Lends the places whose next four bytes may be those at `place` of `text`.
    static func places(like text: [UInt8], _ place: Int, _ body: (Int) -> Void) {
        var found = index.first[hash(text, place, bits: 11)]
        while found > 0 {
            body(Int(found) - 1)
            found = index.next[Int(found) - 1]
        }
    }

    /// Of four bytes.
    static func hash(_ text: [UInt8], _ place: Int, bits: Int) -> Int {
        let word = text.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: place, as: UInt32.self) }
        return Int((word &* 2_654_435_761) >> UInt32(32 - bits))
    }
}
