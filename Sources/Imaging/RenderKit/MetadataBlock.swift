package import VariantSpec

/// Inserts a variant's only block of metadata, an XMP packet, into the file that an encoder wrote.
package enum MetadataBlock {
    /// The same picture with the packet at its format's position (XMP Specification Part 3). An AVIF is returned
    /// unchanged, since libvips writes it with its packet.
    ///
    /// - Parameter packet: at most 2 KiB.
    package static func added(_ packet: [UInt8], to file: [UInt8], _ format: ImageFormat) -> [UInt8] {
        switch format.output?.packet {
        case .segment: inJPEG(packet, file)
        case .textChunk: inPNG(packet, file)
        case .riffChunk: WebPContainer.with(packet, file)
        case .extensionBlock: inGIF(packet, file)
        case .byEncoder, nil: file
        }
    }

    /// Inserts after JFIF's segment, which is the first.
    private static func inJPEG(_ packet: [UInt8], _ file: [UInt8]) -> [UInt8] {
        let hasJFIF = file.count > 6 && file[2] == 0xff && file[3] == 0xe0
        let place = hasJFIF ? 4 + Int(file[4]) << 8 + Int(file[5]) : 2
        guard place <= file.count else { return file }
        let content = Array("http://ns.adobe.com/xap/1.0/\0".utf8) + packet
        return file[..<place] + [0xff, 0xe1] + big(content.count + 2, 2) + content + file[place...]
    }

    /// Inserts after the header.
    private static func inPNG(_ packet: [UInt8], _ file: [UInt8]) -> [UInt8] {
        let place = 33
        guard file.count > place else { return file }
        let chunk = Array("iTXtXML:com.adobe.xmp\0\0\0\0\0".utf8) + packet
        return file[..<place] + big(chunk.count - 4, 4) + chunk + big(Int(checksum(chunk)), 4) + file[place...]
    }

    /// Inserts before the trailer. A reader of blocks takes the packet's bytes for lengths. The bytes that count down
    /// after the packet lead it to the end.
    private static func inGIF(_ packet: [UInt8], _ file: [UInt8]) -> [UInt8] {
        guard file.last == 0x3b else { return file }
        let head = [0x21, 0xff, 11] + Array("XMP DataXMP".utf8)
        let lead = [1] + (0...255).reversed().map { UInt8($0) } + [0]
        return file.dropLast() + head + packet + lead + [0x3b]
    }

    /// CRC-32 as in PNG (ISO 3309).
    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(UInt32.max) { sum, byte in
            (0..<8).reduce(sum ^ UInt32(byte)) { sum, _ in sum >> 1 ^ (sum & 1 == 0 ? 0 : 0xedb8_8320) }
        }
    }
}
