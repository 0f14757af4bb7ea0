/// Decimal numbers in specs and in transform-URL syntaxes.
package enum SpecNumber {
    /// Parses digits and nothing else. The value stops at 2³⁰, above every limit, so that it never overflows.
    package static func whole(_ text: ArraySlice<UInt8>?) -> Int? {
        guard let text, !text.isEmpty else { return nil }
        var number = 0
        for byte in text {
            guard Byte.isDigit(byte) else { return nil }
            number = min(number * 10 + Int(byte &- Byte.zero), 1 << 30)
        }
        return number
    }
}

/// Size as specs and imageView spell it, before any limit: `640x480`, `160y160`, `320z240`.
package struct SpecSize {
    package let width: Int
    package let height: Int
    package let mode: FitMode
    /// Whether it is written `full`, not as two zeros.
    package let isFull: Bool

    package init?(text: ArraySlice<UInt8>) {
        guard let letter = text.firstIndex(where: { !Byte.isDigit($0) }),
            let width = SpecNumber.whole(text[..<letter]), let height = SpecNumber.whole(text[(letter + 1)...])
        else { return nil }
        switch text[letter] {
        case Byte.x: mode = .inside
        case Byte.y: mode = .crop
        case Byte.z: mode = .cover
        default: return nil
        }
        (self.width, self.height, isFull) = (width, height, false)
    }

    init?(full text: ArraySlice<UInt8>) {
        guard text.elementsEqual("full".utf8) else { return nil }
        (width, height, mode, isFull) = (0, 0, .inside, true)
    }
}

extension CropAxis {
    /// Parses `5_2`: two numbers from 0 to 10.
    package init?(text: ArraySlice<UInt8>?) {
        guard let text, let mark = text.firstIndex(of: Byte.underscore), let x = SpecNumber.whole(text[..<mark]),
            let y = SpecNumber.whole(text[(mark + 1)...]), x <= 10, y <= 10
        else { return nil }
        self.init(x: x, y: y)
    }
}
