/// Removes descriptive segments from a JPEG.
package enum JPEGContainer {
    /// The same picture with only its pixels and its colour profile; an unreadable file is returned unchanged.
    package static func bare(_ file: [UInt8]) -> [UInt8] {
        var bare = Array(file.prefix(2))
        var offset = 2
        while offset + 4 <= file.count, file[offset] == 0xff {
            let (marker, length) = (file[offset + 1], Int(file[offset + 2]) << 8 | Int(file[offset + 3]))
            let end = offset + 2 + length
            guard end <= file.count else { return file }
            if marker == 0xda { return bare + file[offset...] }
            // APP1 to APP15 and comments; APP2 holds the profile, APP14 the coding of colours.
            let isTold = (0xe1...0xef).contains(marker) || marker == 0xfe
            if !isTold || marker == 0xe2 || marker == 0xee { bare += file[offset..<end] }
            offset = end
        }
        return file
    }
}
