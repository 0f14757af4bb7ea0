extension VariantSpec {
    /// From text: a size, options in any order, a format. `jpeg` is read for `jpg`; a missing quality is the default.
    package init(_ text: String, defaultQuality: Int = 80) throws(CanonicalFailure) {
        try self.init(utf8: Array(text.utf8)[...], defaultQuality: defaultQuality)
    }

    package init(utf8 text: ArraySlice<UInt8>, defaultQuality: Int = 80) throws(CanonicalFailure) {
        do throws(SpecFault) {
            try self.init(parsing: text, defaultQuality)
        } catch {
            throw .spec(excerpt: Excerpt.quote(Array(text)), error.meaning(Self.likely(text)))
        }
    }

    private init(parsing text: ArraySlice<UInt8>, _ defaultQuality: Int) throws(SpecFault) {
        let dot = text.lastIndex(of: Byte.dot) ?? text.endIndex
        let sizeEnd = text[..<dot].firstIndex(of: Byte.dash) ?? dot
        let sizeText = text[..<sizeEnd]
        guard let size = SpecSize(text: sizeText) ?? SpecSize(full: sizeText) else { throw .unreadable(meant: nil) }
        guard max(size.width, size.height) <= SpecFault.sideLimit, size.isFull || size.width > 0 || size.height > 0
        else { throw .size(Excerpt.quote(Array(sizeText))) }

        var options = SpecOptions()
        var at = sizeEnd
        while at < dot {
            let start = at + 1
            at = text[start..<dot].firstIndex(of: Byte.dash) ?? dot
            try options.read(text[start..<at])
        }

        let suffix = dot == text.endIndex ? [] : text[(dot + 1)...]
        guard let format = ImageFormat(utf8: suffix) else {
            throw .format(suffix.isEmpty ? "" : Excerpt.quote(Array(suffix)), meant: nil)
        }
        guard format.isWritten else { throw .unwritten(format) }
        self.init(
            width: size.width, height: size.height, mode: size.mode, quality: options.quality ?? defaultQuality,
            format: format, enlarge: options.enlarge, axis: options.axis ?? .centre)
    }

    /// The spec that a near miss probably meant: `640X480@quality=80.WEBP` for `640x480-q80.webp`.
    private static func likely(_ text: ArraySlice<UInt8>) -> String? {
        guard text.count <= 64 else { return nil }
        var repaired: [UInt8] = []
        var rest = Array(String(decoding: text, as: UTF8.self).lowercased().utf8)[...]
        let repairs: [(String, String)] = [
            ("quality", "q"), ("×", "x"), ("*", "x"), ("=", ""), (" ", ""), ("@", "-"), (",", "-"), (";", "-"),
            (":", "-"),
        ]
        while let byte = rest.first {
            if let (wrong, right) = repairs.first(where: { rest.starts(with: $0.0.utf8) }) {
                repaired += right.utf8
                rest = rest.dropFirst(wrong.utf8.count)
            } else {
                // A bare number among the options can only be a quality.
                if Byte.isDigit(byte), repaired.last == Byte.dash { repaired.append(Byte.q) }
                repaired.append(byte)
                rest = rest.dropFirst()
            }
        }
        return (try? VariantSpec(parsing: repaired[...], 80))?.description
    }
}

/// The options of a spec as far as they were read.
private struct SpecOptions {
    var quality: Int?
    var axis: CropAxis?
    var enlarge = false

    mutating func read(_ text: ArraySlice<UInt8>) throws(SpecFault) {
        if text.first == Byte.q, text.dropFirst().allSatisfy(Byte.isDigit) {
            guard quality == nil else { throw .repeated("quality") }
            guard let number = SpecNumber.whole(text.dropFirst()), (1...100).contains(number) else {
                throw .quality(Excerpt.quote(Array(text)))
            }
            quality = number
        } else if text.starts(with: Self.axisWord) {
            guard axis == nil else { throw .repeated("axis") }
            guard let asked = CropAxis(text: text.dropFirst(Self.axisWord.count)) else {
                throw .axis(Excerpt.quote(Array(text)))
            }
            axis = asked
        } else if text.elementsEqual(Self.enlargeWord) {
            guard !enlarge else { throw .repeated("enlarge") }
            enlarge = true
        } else {
            throw .option(Excerpt.quote(Array(text)), meant: nil)
        }
    }

    private static let axisWord = Array("axis".utf8)
    private static let enlargeWord = Array("enlarge".utf8)
}
