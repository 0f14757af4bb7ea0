internal import VariantSpec

extension RenderReply {
    /// Exit status of a renderer that has no memory left to reply.
    package static let memoryStatus: Int32 = 70
    /// Exit status of a renderer that was refused a thread: without one, libraries write other bytes, or blame the
    /// source.
    package static let threadStatus: Int32 = 71

    package var message: [UInt8] {
        var fields = FieldWriter()
        fields.add(Wire.Tag.version, Wire.version)
        switch self {
        case .ready: fields.add(Wire.Tag.kind, "ready")
        case .rendered(let outputs):
            fields.add(Wire.Tag.kind, "rendered")
            for output in outputs {
                var part = FieldWriter()
                part.add(Wire.Tag.width, output.size.width)
                part.add(Wire.Tag.height, output.size.height)
                part.add(Wire.Tag.bytes, output.bytes)
                part.add(Wire.Tag.hasAlpha, output.hasAlpha)
                part.add(Wire.Tag.frames, output.frames)
                if let quality = output.quality { part.add(Wire.Tag.quality, quality) }
                if let crop = output.crop { part.add(crop) }
                part.add(Wire.Tag.placeholder, output.placeholder.thumbHash)
                if let colour = output.placeholder.colour {
                    part.add(Wire.Tag.colour, [colour.red, colour.green, colour.blue])
                }
                if let isOfDrawing = output.isOfDrawing { part.add(Wire.Tag.isOfDrawing, isOfDrawing) }
                fields.add(Wire.Tag.output, part.bytes)
            }
        case .failed(let failure):
            let kind =
                switch failure {
                case .source: "source"
                case .unsupported: "unsupported"
                case .output: "output"
                case .noSpace: "no-space"
                case .memory: "memory"
                case .protocolMismatch: "protocol"
                }
            fields.add(Wire.Tag.kind, kind)
            fields.add(Wire.Tag.reason, String(failure.reason.prefix(1000)))
            switch failure {
            case .output(let index, _), .memory(let index?, _): fields.add(Wire.Tag.index, index)
            case .source, .unsupported, .noSpace, .memory(nil, _), .protocolMismatch: break
            }
        case .readyUnfiltered(let reason):
            fields.add(Wire.Tag.kind, "ready-unfiltered")
            fields.add(Wire.Tag.reason, reason)
        }
        return fields.bytes
    }

    /// Decodes a reply; nil if it is no message of this version, because a child is never trusted.
    package init?(message: [UInt8]) {
        guard let fields = Fields(message[...]), fields.int(Wire.Tag.version) == Wire.version else { return nil }
        let reason = fields.told(Wire.Tag.reason)
        switch fields.text(Wire.Tag.kind) {
        case "ready": self = .ready
        case "ready-unfiltered": self = .readyUnfiltered(reason: reason)
        case "rendered":
            let parts = fields.all(Wire.Tag.output)
            let outputs = parts.compactMap { Fields($0).flatMap { RenderedOutput($0) } }
            guard outputs.count == parts.count else { return nil }
            self = .rendered(outputs)
        case "source": self = .failed(.source(reason: reason))
        case "unsupported": self = .failed(.unsupported(reason: reason))
        case "no-space": self = .failed(.noSpace(reason: reason))
        case "memory": self = .failed(.memory(output: fields.int(Wire.Tag.index), reason: reason))
        case "protocol": self = .failed(.protocolMismatch(reason: reason))
        case "output":
            guard let index = fields.int(Wire.Tag.index) else { return nil }
            self = .failed(.output(index, reason: reason))
        default: return nil
        }
    }
}

extension RenderedOutput {
    init?(_ fields: Fields) {
        guard let size = PixelSize(fields), let bytes = fields.int(Wire.Tag.bytes, in: Wire.bytes),
            let hasAlpha = fields.bool(Wire.Tag.hasAlpha)
        else { return nil }
        self.init(size: size, bytes: bytes, hasAlpha: hasAlpha)
        frames = fields.int(Wire.Tag.frames, in: Wire.frames) ?? 1
        quality = fields.int(Wire.Tag.quality, in: Wire.quality)
        crop = Region(fields)
        isOfDrawing = fields.bool(Wire.Tag.isOfDrawing)
        placeholder.thumbHash = Array(fields.all(Wire.Tag.placeholder).last?.prefix(ThumbHash.byteLimit) ?? [])
        if let bytes = fields.all(Wire.Tag.colour).last.map(Array.init), bytes.count == 3 {
            placeholder.colour = RGB(bytes[0], bytes[1], bytes[2])
        }
    }
}
