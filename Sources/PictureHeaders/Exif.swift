internal import Ports
internal import RenderProtocol
internal import VariantSpec

/// The fields of an EXIF block that a render needs: how pixels are turned, and whose they are.
struct Exif {
    private(set) var orientation: Orientation?
    private(set) var rights = PictureRights()
    /// Where an XMP packet and an IPTC record lie, which a TIFF has here.
    private(set) var blocks: [Int: Range<Int>] = [:]
    static let (packet, record) = (0x02bc, 0x83bb)

    /// A directory of a camera has some dozens, and the numbers of these are low ones.
    private static let entryLimit = 256
    /// Bytes of one text that are looked at.
    private static let textLimit = 4096

    /// From the first directory of the TIFF structure in a block, which must lie in it; without what it does not tell, or
    /// tells as nonsense.
    ///
    /// A file is asked for one block: the first, as decoders take it.
    init(_ bytes: inout PictureBytes, in block: Range<Int>) throws(RenderFailure) {
        let start = block.lowerBound
        let isBig = try bytes.has([0x4d, 0x4d, 0, 42], at: start)
        if !isBig { guard try bytes.has([0x49, 0x49, 42, 0], at: start) else { return } }
        func number(_ offset: Int, _ count: Int) throws(RenderFailure) -> Int? {
            guard offset + count <= block.upperBound else { return nil }
            return isBig ? try bytes.big(offset, count) : try bytes.little(offset, count)
        }
        guard let first = try number(start + 4, 4), let entries = try number(start + first, 2) else { return }
        var (texts, hasOrientation): ([Int: Range<Int>], Bool) = ([:], false)
        for entry in 0..<min(entries, Self.entryLimit) {
            let place = start + first + 2 + entry * 12
            guard let tag = try number(place, 2), let kind = try number(place + 2, 2) else { break }
            switch tag {
            case 0x0112 where !hasOrientation:
                hasOrientation = true
                // SHORT as the standard says, LONG as some write.
                let value = kind == 3 ? try number(place + 8, 2) : kind == 4 ? try number(place + 8, 4) : nil
                orientation = value.flatMap { Orientation(rawValue: $0) }
            case 0x013b, 0x8298:
                guard kind == 2, texts[tag] == nil, let count = try number(place + 4, 4),
                    let offset = try number(place + 8, 4)
                else { continue }
                let text = count <= 4 ? place + 8 : start + offset
                texts[tag] = text..<text + min(count, Self.textLimit)
            case Self.packet, Self.record:
                guard let count = try number(place + 4, 4), let offset = try number(place + 8, 4), count > 4 else {
                    continue
                }
                // Some count a record's words of four bytes, as LONG.
                let length = count * (kind == 4 ? 4 : 1)
                if start + offset + length <= block.upperBound {
                    blocks[tag] = start + offset..<start + offset + length
                }
            default: break
            }
        }
        // Behind the directory: a place before what was read is read once more.
        func text(_ tag: Int) throws(RenderFailure) -> String {
            guard let range = texts[tag], range.upperBound <= block.upperBound,
                let text = try bytes.bytes(range.lowerBound, range.count)
            else { return "" }
            // A photographer's notice and an editor's, each with its end.
            return text.split(separator: 0).map { FoundRights.text($0) }.first { !$0.allSatisfy(\.isWhitespace) } ?? ""
        }
        rights = PictureRights(creator: try text(0x013b), notice: try text(0x8298))
    }
}
