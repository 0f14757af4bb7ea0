internal import Ports
internal import RenderProtocol

/// The one field of an EXIF block that pixels depend on.
enum Exif {
    /// A directory of a camera has some dozens, and the orientation's number is a low one.
    private static let entryLimit = 256

    /// The orientation that the TIFF structure in a block tells, whose directory must lie in it; nil where it tells none,
    /// or nonsense.
    ///
    /// A file is asked for one block: the first, as decoders take it.
    static func orientation(_ bytes: inout PictureBytes, in block: Range<Int>) throws(RenderFailure) -> Orientation? {
        let start = block.lowerBound
        let isBig: Bool
        if try bytes.has([0x4d, 0x4d, 0, 42], at: start) {
            isBig = true
        } else if try bytes.has([0x49, 0x49, 42, 0], at: start) {
            isBig = false
        } else {
            return nil
        }
        func number(_ offset: Int, _ count: Int) throws(RenderFailure) -> Int? {
            guard offset + count <= block.upperBound else { return nil }
            return isBig ? try bytes.big(offset, count) : try bytes.little(offset, count)
        }
        guard let first = try number(start + 4, 4), let entries = try number(start + first, 2) else { return nil }
        for entry in 0..<min(entries, entryLimit) {
            let place = start + first + 2 + entry * 12
            guard let tag = try number(place, 2), let kind = try number(place + 2, 2) else { return nil }
            guard tag == 0x0112 else { continue }
            // SHORT as the standard says, LONG as some write.
            let value = kind == 3 ? try number(place + 8, 2) : kind == 4 ? try number(place + 8, 4) : nil
            return value.flatMap { Orientation(rawValue: $0) }
        }
        return nil
    }
}
