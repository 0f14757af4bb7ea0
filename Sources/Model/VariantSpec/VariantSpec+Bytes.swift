internal import JSONText

extension VariantSpec {
    /// Upper bound on the length of the spelling in bytes. Regions alone take up to 85 bytes; a file's name has at most
    /// 255.
    package var byteLimit: Int { hasExtras ? 255 : 192 }

    /// Writes the canonical spelling and returns its length. Written by hand, because records are written by the ten
    /// thousand a second and interpolation is slow.
    package func write(to out: UnsafeMutablePointer<UInt8>) -> Int {
        var count = 0
        func put(_ text: StaticString) {
            (out + count).update(from: text.utf8Start, count: text.utf8CodeUnitCount)
            count += text.utf8CodeUnitCount
        }
        func put(_ number: Int) { count += Decimal.write(Int64(number), to: out + count) }
        if isFullSize {
            put("full")
        } else {
            put(width)
            switch mode {
            case .inside: put("x")
            case .cover: put("z")
            case .crop: put("y")
            }
            put(height)
        }
        if hasExtras {
            for option in SpecOption.allCases {
                guard let text = option.text(in: self) else { continue }
                precondition(count + text.utf8.count < byteLimit - ".auto".utf8.count, "a spec longer than a file's name")
                put("-")
                for byte in text.utf8 {
                    out[count] = byte
                    count += 1
                }
            }
            if isAuto {
                put(".auto")
                return count
            }
        } else {
            // The options that nearly every spec has, spelled as in the table, but without strings.
            if quality > 0 {
                put("-q")
                put(quality)
            }
            if axis != .centre {
                put("-axis")
                put(axis.x)
                put("_")
                put(axis.y)
            }
            if enlarge { put("-enlarge") }
        }
        put(".")
        put(format.traits.suffix)
        return count
    }

    /// Reads the canonical spelling, as `write` writes it, and no other. Fast, because a restore reads rows by the
    /// hundred thousand a second.
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
        guard rest.text.first == Byte.dot, !rest.text.elementsEqual(".auto".utf8) else {
            // Rare options take the general parser.
            guard let spec = try? VariantSpec(utf8: Array(text)[...]), spec.isSpelt(as: text) else { return nil }
            self = spec
            return
        }
        guard rest.take("."), let format = ImageFormat(suffix: String(decoding: rest.text, as: UTF8.self)) else { return nil }
        self.init(width: width, height: height, mode: mode, quality: quality, format: format, enlarge: enlarge, axis: axis)
        guard isSpelt(as: text), !format.hasQuality || (1...100).contains(quality), axis.x <= 10, axis.y <= 10
        else { return nil }
    }

    /// Refuses other spellings of the same spec, so that keys and specs stay one to one.
    private func isSpelt(as text: UnsafeBufferPointer<UInt8>) -> Bool {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: byteLimit) { out in
            UnsafeBufferPointer(start: out.baseAddress, count: write(to: out.baseAddress!)).elementsEqual(text)
        }
    }

    /// Text that is still to be read.
    private struct Rest {
        var text: UnsafeBufferPointer<UInt8>

        mutating func take(_ word: StaticString) -> Bool {
            let wanted = UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
            guard text.starts(with: wanted) else { return false }
            text = UnsafeBufferPointer(rebasing: text[wanted.count...])
            return true
        }

        /// Reads at most five digits, without leading zeros.
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
