internal import ImageModel
internal import Ports

/// What both sides of the socket agree on.
enum Wire {
    /// Raised when an older program would misread what a newer one says; a new optional field does not raise it.
    static let version = 1
    /// A whole message; the longest is a request of 64 outputs.
    static let messageLimit = 64 << 10

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
        for output in outputs { fields.add(Wire.Tag.output, output.fields) }
        return fields.bytes
    }

    /// - Failure: says which part of the message is not what this version writes.
    package init(message: [UInt8]) throws(EngineFailure) {
        guard let fields = Fields(message[...]), let version = fields.int(Wire.Tag.version) else {
            throw .protocolMismatch(reason: "the request is no message of fields")
        }
        guard version == Wire.version else {
            throw .protocolMismatch(reason: "the request has version \(version), this program reads \(Wire.version)")
        }
        guard let format = fields.text(Wire.Tag.format).flatMap({ ImageFormat(rawValue: $0) }),
            let size = PixelSize(fields), let orientation = fields.int(Wire.Tag.orientation),
            (1...8).contains(orientation), let frames = fields.int(Wire.Tag.frames),
            let hasAlpha = fields.bool(Wire.Tag.hasAlpha), let isReuse = fields.bool(Wire.Tag.isReuse),
            let deadline = fields.int(Wire.Tag.deadline)
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
            format: format, size: size, orientation: orientation, frames: frames, hasAlpha: hasAlpha)
        self.init(facts: facts, isReuse: isReuse, deadlineMilliseconds: deadline, outputs: outputs)
    }
}

extension PixelSize {
    /// A size that a picture can have.
    init?(_ fields: Fields) {
        guard let width = fields.int(Wire.Tag.width), let height = fields.int(Wire.Tag.height),
            (1..<1 << 31).contains(width), (1..<1 << 31).contains(height)
        else { return nil }
        self.init(width: width, height: height)
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
        fields.add(Wire.Tag.cutX, cut.x)
        fields.add(Wire.Tag.cutY, cut.y)
        fields.add(Wire.Tag.cutWidth, cut.width)
        fields.add(Wire.Tag.cutHeight, cut.height)
        return fields.bytes
    }

    init?(_ fields: Fields) {
        guard let format = fields.text(Wire.Tag.format).flatMap({ ImageFormat(rawValue: $0) }),
            let quality = fields.int(Wire.Tag.quality), let effort = fields.int(Wire.Tag.effort),
            let size = PixelSize(fields),
            let x = fields.double(Wire.Tag.cutX), let y = fields.double(Wire.Tag.cutY),
            let width = fields.double(Wire.Tag.cutWidth), let height = fields.double(Wire.Tag.cutHeight),
            [x, y, width, height].allSatisfy({ $0 >= 0 && $0 < Double(1 << 31) }), width > 0, height > 0
        else { return nil }
        self.init(
            format: format, quality: quality, effort: effort, size: size,
            cut: Region(x: x, y: y, width: width, height: height))
    }
}
