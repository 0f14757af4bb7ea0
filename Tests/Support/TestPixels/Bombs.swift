/// Files of a few bytes that say something monstrous of themselves.
package enum Bombs {
    /// An AVIF of 171 bytes whose clean aperture has sides of 2³² - 1, each over 1.
    package static var aperture: [UInt8] {
        let most = [UInt8](repeating: 0xff, count: 4)
        let one: [UInt8] = [0, 0, 0, 1]
        let none: [UInt8] = [0, 0, 0, 0]
        let properties =
            box("ispe", none + one + one) + box("irot", [0])
            + box("clap", most + one + most + one + none + one + none + one)
        let links = box("ipma", none + one + [0, 7, 3, 1, 0x82, 0x83])
        let meta = box("pitm", none + [0, 7]) + box("iprp", box("ipco", properties) + links)
        return box("ftyp", Array("avif".utf8) + none + Array("avif".utf8)) + box("meta", none + meta)
            + box("mdat", [UInt8](repeating: 0, count: 10))
    }

    /// A box of an ISO file.
    package static func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
        let length = UInt32(content.count + 8)
        return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> $0) } + Array(type.utf8) + content
    }
}
