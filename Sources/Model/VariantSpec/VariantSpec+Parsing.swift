extension VariantSpec {
    /// Parses a size, options in any order, and a format. `jpeg` is read as `jpg`; a missing quality takes the default.
    package init(_ text: String, defaults: DefaultQualities = DefaultQualities()) throws(SpecFailure) {
        try self.init(utf8: Array(text.utf8)[...], defaults: defaults)
    }

    package init(utf8 text: ArraySlice<UInt8>, defaults: DefaultQualities = DefaultQualities()) throws(SpecFailure) {
        do throws(SpecFault) {
            try self.init(parsing: text, defaults)
        } catch {
            throw SpecFailure(excerpt: Excerpt.quote(Array(text)), fault: error.meaning(Self.likely(text)))
        }
    }

    private init(parsing text: ArraySlice<UInt8>, _ defaults: DefaultQualities) throws(SpecFault) {
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

        if options.extras.keepsProfile, let drawn = options.extras.drawnInSRGB { throw .profileBeside(drawn) }

        let suffix = dot == text.endIndex ? [] : text[(dot + 1)...]
        let isAuto = suffix.elementsEqual("auto".utf8)
        if let word = options.accepted, !isAuto { throw .option(word, meant: nil) }
        guard let format = isAuto ? .jpeg : ImageFormat(utf8: suffix) else {
            throw .format(suffix.isEmpty ? "" : Excerpt.quote(Array(suffix)), meant: nil)
        }
        guard format.isWritten else { throw .unwritten(format) }
        if isAuto { options.extras.accepts = options.extras.accepts ?? [] }
        self.init(
            width: size.width, height: size.height, mode: size.mode,
            quality: options.quality ?? (isAuto ? 0 : defaults.quality(for: format)), format: format,
            enlarge: options.enlarge, axis: options.axis ?? .centre, extras: options.extras)
    }

    /// The spec that a near miss probably meant, such as `640x480-q80.webp` for `640X480@quality=80.WEBP`.
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
                // Among the options, a bare number can only be a quality.
                if Byte.isDigit(byte), repaired.last == Byte.dash { repaired.append(Byte.q) }
                repaired.append(byte)
                rest = rest.dropFirst()
            }
        }
        return (try? VariantSpec(parsing: repaired[...], DefaultQualities()))?.description
    }
}
