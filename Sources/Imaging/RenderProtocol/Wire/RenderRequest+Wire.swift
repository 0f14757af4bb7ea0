internal import Images
internal import VariantSpec

/// The protocol that both sides of the socket share.
package enum Wire {
    /// Raised if an older program would misread a newer one's message; a new optional field does not raise it.
    static let version = 1
    /// Most bytes of a message; the longest is a request of 64 outputs.
    package static let messageLimit = 64 << 10
    /// Ranges of numbers, which both sides check when they read them.
    static let frames = 1...1 << 20
    static let quality = 0...100
    static let effort = 0...100
    static let milliseconds = 1 << 40
    static let bytes = 1...1 << 40
    /// The range of sizes (`PixelSize.times`).
    static let memory = 1 << 55

    enum Tag {
        static let version: UInt16 = 1
        static let format: UInt16 = 2
        static let width: UInt16 = 3
        static let height: UInt16 = 4
        static let orientation: UInt16 = 5
        static let frames: UInt16 = 6
        static let hasAlpha: UInt16 = 7
        static let isReuse: UInt16 = 8
        static let deadline: UInt16 = 9
        static let output: UInt16 = 10
        static let quality: UInt16 = 11
        static let effort: UInt16 = 12
        static let cutX: UInt16 = 13
        static let cutY: UInt16 = 14
        static let cutWidth: UInt16 = 15
        static let cutHeight: UInt16 = 16
        static let kind: UInt16 = 17
        static let reason: UInt16 = 18
        static let index: UInt16 = 19
        static let bytes: UInt16 = 20
        static let spec: UInt16 = 21
        static let isAnimated: UInt16 = 22
        static let isProgressive: UInt16 = 23
        static let ceiling: UInt16 = 24
        static let watermark: UInt16 = 25
        static let key: UInt16 = 26
        static let placeholder: UInt16 = 27
        static let colour: UInt16 = 28
        static let duration: UInt16 = 29
        static let limit: UInt16 = 30
        static let part: UInt16 = 31
        static let isOutput: UInt16 = 32
        static let picture: UInt16 = 33
        static let isTruncated: UInt16 = 34
        static let primaries: UInt16 = 35
        static let transfer: UInt16 = 36
        static let rights: UInt16 = 37
        static let packet: UInt16 = 38
        static let memory: UInt16 = 39
        static let ignoresProfile: UInt16 = 41
        static let region: UInt16 = 42
        static let isOfDrawing: UInt16 = 43
        static let gamma: UInt16 = 60
        static let chromaticity: UInt16 = 61
    }
}

extension RenderRequest {
    package var message: [UInt8] {
        var fields = FieldWriter()
        fields.add(Wire.Tag.version, Wire.version)
        fields.add(Wire.Tag.format, facts.format.rawValue)
        fields.add(Wire.Tag.width, facts.size.width)
        fields.add(Wire.Tag.height, facts.size.height)
        fields.add(Wire.Tag.orientation, facts.orientation)
        fields.add(Wire.Tag.frames, facts.frames)
        fields.add(Wire.Tag.hasAlpha, facts.hasAlpha)
        fields.add(Wire.Tag.isReuse, isReuse)
        fields.add(Wire.Tag.deadline, deadlineMilliseconds)
        fields.add(Wire.Tag.duration, facts.duration)
        fields.add(Wire.Tag.memory, facts.memory)
        if let colours = facts.colours { fields.add(colours) }
        if let packet { fields.add(Wire.Tag.packet, packet) }
        for watermark in watermarks {
            var part = FieldWriter()
            part.add(Wire.Tag.key, watermark.key)
            part.add(Wire.Tag.format, watermark.format.rawValue)
            fields.add(Wire.Tag.watermark, part.bytes)
        }
        for output in outputs { fields.add(Wire.Tag.output, output.fields) }
        return fields.bytes
    }

    /// - Failure: names the part of the message that this version does not write.
    package init(message: [UInt8]) throws(EngineFailure) {
        guard let fields = Fields(message[...]), let version = fields.int(Wire.Tag.version) else {
            throw .protocolMismatch(reason: "the request does not consist of fields")
        }
        guard version == Wire.version else {
            throw .protocolMismatch(reason: "the request has version \(version), this program reads \(Wire.version)")
        }
        guard let format = fields.text(Wire.Tag.format).flatMap({ ImageFormat(rawValue: $0) }),
            let size = PixelSize(fields), let orientation = fields.int(Wire.Tag.orientation, in: 1...8),
            let frames = fields.int(Wire.Tag.frames, in: Wire.frames),
            let hasAlpha = fields.bool(Wire.Tag.hasAlpha), let isReuse = fields.bool(Wire.Tag.isReuse),
            let deadline = fields.int(Wire.Tag.deadline, in: 0...Wire.milliseconds)
        else { throw .protocolMismatch(reason: "the request lacks a field of its source") }
        var outputs: [RenderOutput] = []
        for bytes in fields.all(Wire.Tag.output) {
            guard let output = Fields(bytes).flatMap({ RenderOutput($0) }) else {
                throw .protocolMismatch(reason: "output \(outputs.count) of the request lacks a field")
            }
            outputs.append(output)
        }
        guard (1...Self.outputLimit).contains(outputs.count) else {
            throw .protocolMismatch(
                reason: "the request has \(outputs.count) outputs, 1 to \(Self.outputLimit) are made")
        }
        let facts = PictureFacts(
            format: format, size: size, orientation: orientation, frames: frames, hasAlpha: hasAlpha,
            duration: fields.int(Wire.Tag.duration, in: 0...Wire.milliseconds) ?? 0, colours: ColourCodes(fields),
            memory: fields.int(Wire.Tag.memory, in: 0...Wire.memory) ?? 0)
        self.init(facts: facts, isReuse: isReuse, deadlineMilliseconds: deadline, outputs: outputs)
        carry(fields.all(Wire.Tag.packet).last.map { Array($0.prefix(PictureRights.packetLimit)) })
        for bytes in fields.all(Wire.Tag.watermark) {
            guard let part = Fields(bytes), let key = part.text(Wire.Tag.key),
                let format = part.text(Wire.Tag.format).flatMap({ ImageFormat(rawValue: $0) }),
                watermarks.count < RenderWatermark.limit
            else { throw .protocolMismatch(reason: "a watermark of the request lacks a field") }
            watermarks.append(RenderWatermark(key: key, format: format))
        }
    }
}

extension PixelSize {
    /// Reads a valid picture size.
    init?(_ fields: Fields) {
        guard let width = fields.int(Wire.Tag.width), let height = fields.int(Wire.Tag.height) else { return nil }
        self.init(checking: width, height)
    }
}

extension RenderOutput {
    var fields: [UInt8] {
        var fields = FieldWriter()
        fields.add(Wire.Tag.format, format.rawValue)
        fields.add(Wire.Tag.quality, quality)
        fields.add(Wire.Tag.effort, effort)
        fields.add(Wire.Tag.width, size.width)
        fields.add(Wire.Tag.height, size.height)
        fields.add(crop)
        if let spec { fields.add(Wire.Tag.spec, spec.description) }
        if isAnimated { fields.add(Wire.Tag.isAnimated, true) }
        if isProgressive { fields.add(Wire.Tag.isProgressive, true) }
        if ceiling > 0 { fields.add(Wire.Tag.ceiling, ceiling) }
        return fields.bytes
    }

    init?(_ fields: Fields) {
        guard let format = fields.text(Wire.Tag.format).flatMap({ ImageFormat(rawValue: $0) }),
            let quality = fields.int(Wire.Tag.quality, in: Wire.quality),
            let effort = fields.int(Wire.Tag.effort, in: Wire.effort),
            let size = PixelSize(fields), let crop = Region(fields)
        else { return nil }
        self.init(format: format, quality: quality, effort: effort, size: size, crop: crop)
        if let text = fields.text(Wire.Tag.spec) {
            var text = text
            guard let spec = text.withUTF8({ VariantSpec(written: $0) }) else { return nil }
            self.spec = spec
        }
        isAnimated = fields.bool(Wire.Tag.isAnimated) ?? false
        isProgressive = fields.bool(Wire.Tag.isProgressive) ?? false
        ceiling = max(0, fields.int(Wire.Tag.ceiling) ?? 0)
    }
}

extension Region {
    /// Reads a valid rectangle of a picture.
    init?(_ fields: Fields) {
        guard let x = fields.double(Wire.Tag.cutX), let y = fields.double(Wire.Tag.cutY),
            let width = fields.double(Wire.Tag.cutWidth), let height = fields.double(Wire.Tag.cutHeight)
        else { return nil }
        self.init(checkingX: x, y: y, width: width, height: height)
    }
}

extension ColourCodes {
    init?(_ fields: Fields) {
        if let gamma = fields.int(Wire.Tag.gamma) {
            self.init(gamma: gamma, chromaticities: fields.ints(Wire.Tag.chromaticity))
            return
        }
        guard let primaries = fields.int(Wire.Tag.primaries), let transfer = fields.int(Wire.Tag.transfer) else {
            return nil
        }
        self.init(primaries: primaries, transfer: transfer)
    }
}

extension FieldWriter {
    mutating func add(_ colours: ColourCodes) {
        if colours.gamma > 0 {
            add(Wire.Tag.gamma, colours.gamma)
            for number in colours.chromaticities { add(Wire.Tag.chromaticity, number) }
            return
        }
        add(Wire.Tag.primaries, colours.primaries)
        add(Wire.Tag.transfer, colours.transfer)
    }

    mutating func add(_ crop: Region) {
        add(Wire.Tag.cutX, crop.x)
        add(Wire.Tag.cutY, crop.y)
        add(Wire.Tag.cutWidth, crop.width)
        add(Wire.Tag.cutHeight, crop.height)
    }
}
