internal import Images

/// The first directory of a TIFF structure: a TIFF's first page, or the fields of an EXIF block.
struct TIFFDirectory {
    struct Field {
        /// Type of the values: 2 text, 3 whole numbers of 16 bits, 4 of 32.
        let kind: Int
        let count: Int
        /// Position of the values in the file.
        let values: Range<Int>
    }

    /// Fields by tag; of several with one tag the first counts, as in libtiff.
    private(set) var fields: [Int: Field] = [:]
    private let block: Range<Int>
    private let isMotorola: Bool

    /// Most entries that are read: a page has some dozens.
    private static let entryLimit = 512
    private static let sizes = [1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 16: 8]

    /// Reads a directory with 32-bit offsets, or with the 64-bit ones of BigTIFF; nil if the block has no directory.
    ///
    /// Decoders use the first block of a file, and so does this.
    init?(_ bytes: inout PictureBytes, in block: Range<Int>) throws(RenderFailure) {
        let start = block.lowerBound
        (self.block, isMotorola) = (block, try bytes.has([0x4d, 0x4d], at: start))
        if !isMotorola { guard try bytes.has([0x49, 0x49], at: start) else { return nil } }
        let version = try number(&bytes, start + 2, 2)
        guard version == 42 || version == 43 else { return nil }
        let isBig = version == 43
        let (word, countBytes) = isBig ? (8, 8) : (4, 2)
        guard let offset = try number(&bytes, start + (isBig ? 8 : 4), word), offset > 0, offset < block.count,
            let entries = try number(&bytes, start + offset, countBytes), entries > 0
        else { return nil }
        for entry in 0..<min(entries, Self.entryLimit) {
            let place = start + offset + countBytes + entry * (4 + 2 * word)
            guard let tag = try number(&bytes, place, 2), let kind = try number(&bytes, place + 2, 2),
                let count = try number(&bytes, place + 4, word), var values = try number(&bytes, place + 4 + word, word)
            else { break }
            let (length, isMore) = count.multipliedReportingOverflow(by: Self.sizes[kind] ?? 1)
            guard fields[tag] == nil, count >= 0, !isMore else { continue }
            // Values longer than the entry's word lie elsewhere.
            if length <= word { values = place + 4 + word - start }
            guard values >= 0, values <= block.count - length else { continue }
            values += start
            fields[tag] = Field(kind: kind, count: count, values: values..<values + length)
        }
    }

    /// The first value of a field, as a whole number.
    func first(_ tag: Int, _ bytes: inout PictureBytes) throws(RenderFailure) -> Int? {
        guard let field = fields[tag], field.count > 0 else { return nil }
        return try number(&bytes, field.values.lowerBound, Self.sizes[field.kind] ?? 1)
    }

    private func number(_ bytes: inout PictureBytes, _ offset: Int, _ count: Int) throws(RenderFailure) -> Int? {
        guard offset <= block.upperBound - count else { return nil }
        return isMotorola ? try bytes.big(offset, count) : try bytes.little(offset, count)
    }
}
