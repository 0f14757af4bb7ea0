extension VariantSpec {
    /// The one spelling at the end of `out`: records are written by the ten thousand a second, and interpolation is slow.
    package func append(to out: inout [UInt8]) {
        if isFullSize {
            out.append(contentsOf: "full".utf8)
        } else {
            Self.append(width, to: &out)
            out.append(contentsOf: mode.rawValue.utf8)
            Self.append(height, to: &out)
        }
        if !format.isLossless {
            out.append(contentsOf: "-q".utf8)
            Self.append(quality, to: &out)
        }
        if axis != .centre {
            out.append(contentsOf: "-axis".utf8)
            Self.append(axis.x, to: &out)
            out.append(UInt8(ascii: "_"))
            Self.append(axis.y, to: &out)
        }
        if enlarge { out.append(contentsOf: "-enlarge".utf8) }
        out.append(UInt8(ascii: "."))
        out.append(contentsOf: format.suffix.utf8)
    }

    private static func append(_ number: Int, to out: inout [UInt8]) {
        var unit = 1
        while number / unit >= 10 { unit *= 10 }
        while unit > 0 {
            out.append(UInt8(48 + number / unit % 10))
            unit /= 10
        }
    }

    /// Reads what `append` wrote and no other spelling: rows come back by the hundred thousand a second at restore.
    package init?(written text: UnsafeBufferPointer<UInt8>) {
        var rest = Rest(text: text)
        var width = 0, height = 0
        var mode = FitMode.inside
        if !rest.take("full") {
            guard let first = rest.number() else { return nil }
            if rest.take("x") {} else if rest.take("y") { mode = .crop } else if rest.take("z") { mode = .cover } else { return nil }
            guard let second = rest.number() else { return nil }
            (width, height) = (first, second)
        }
        var quality = 0
        if rest.take("-q") {
            guard let number = rest.number() else { return nil }
            quality = number
        }
        var axis = CropAxis.centre
        if rest.take("-axis") {
            guard let x = rest.number(), rest.take("_"), let y = rest.number() else { return nil }
            axis = CropAxis(x: x, y: y)
        }
        let enlarge = rest.take("-enlarge")
        guard rest.take("."), let format = ImageFormat(suffix: String(decoding: rest.text, as: UTF8.self)) else { return nil }
        self.init(width: width, height: height, mode: mode, quality: quality, format: format, enlarge: enlarge, axis: axis)
        // Another spelling of the same spec is refused: keys and specs stay one to one.
        var spelling: [UInt8] = []
        append(to: &spelling)
        guard format.isLossless || (1...100).contains(quality), axis.x <= 10, axis.y <= 10, spelling.elementsEqual(text)
        else { return nil }
    }

    /// What is still to be read.
    private struct Rest {
        var text: UnsafeBufferPointer<UInt8>

        mutating func take(_ word: StaticString) -> Bool {
            let wanted = UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
            guard text.starts(with: wanted) else { return false }
            text = UnsafeBufferPointer(rebasing: text[wanted.count...])
            return true
        }

        /// At most five digits, without leading zeros.
        mutating func number() -> Int? {
            var value = 0
            var count = 0
            while count < text.count, count < 6, text[count] &- 48 < 10 {
                value = value * 10 + Int(text[count] - 48)
                count += 1
            }
            guard count > 0, count < 6, count == 1 || text[0] != 48 else { return nil }
            text = UnsafeBufferPointer(rebasing: text[count...])
            return value
        }
    }
}
