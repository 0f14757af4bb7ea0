internal import Images
internal import VariantSpec

extension InspectionRequest {
    package var message: [UInt8] {
        var fields = FieldWriter()
        fields.add(Wire.Tag.version, Wire.version)
        for format in limits.formats { fields.add(Wire.Tag.format, format.rawValue) }
        let numbers = [
            limits.pixels, limits.frames, limits.scans, limits.chunks, limits.profileBytes, limits.memory,
        ]
        for number in numbers { fields.add(Wire.Tag.limit, number) }
        fields.add(parts, as: Wire.Tag.part)
        fields.add(Wire.Tag.isOutput, isOutput)
        return fields.bytes
    }

    /// Decodes a request; nil if it is no message of this version.
    package init?(message: [UInt8]) {
        guard let fields = Fields(message[...]), fields.int(Wire.Tag.version) == Wire.version,
            let isOutput = fields.bool(Wire.Tag.isOutput),
            let parts = fields.ranges(Wire.Tag.part, limit: RenderRequest.outputLimit)
        else { return nil }
        let numbers = fields.ints(Wire.Tag.limit)
        guard numbers.count == 6 else { return nil }
        var limits = RenderLimits()
        limits.formats = Set(
            fields.all(Wire.Tag.format).compactMap { ImageFormat(rawValue: String(decoding: $0, as: UTF8.self)) })
        (limits.pixels, limits.frames, limits.scans) = (numbers[0], numbers[1], numbers[2])
        (limits.chunks, limits.profileBytes, limits.memory) = (numbers[3], numbers[4], numbers[5])
        self.init(limits: limits, parts: parts, isOutput: isOutput)
    }
}

extension InspectionReply {
    package var message: [UInt8] {
        var fields = FieldWriter()
        fields.add(Wire.Tag.version, Wire.version)
        for result in results {
            switch result {
            case .success(let picture): fields.add(Wire.Tag.picture, picture.fields)
            case .failure(let failure): fields.add(Wire.Tag.picture, failure.fields)
            }
        }
        return fields.bytes
    }

    /// Decodes a reply; nil if it is no message of this version, because a child is never trusted.
    package init?(message: [UInt8]) {
        guard let fields = Fields(message[...]), fields.int(Wire.Tag.version) == Wire.version else { return nil }
        let parts = fields.all(Wire.Tag.picture)
        let results = parts.compactMap { part -> Result<InspectedPicture, RenderFailure>? in
            guard let fields = Fields(part) else { return nil }
            return InspectedPicture(fields).map { .success($0) } ?? RenderFailure(fields).map { .failure($0) }
        }
        guard results.count == parts.count else { return nil }
        self.init(results)
    }
}

extension InspectedPicture {
    fileprivate var fields: [UInt8] {
        var fields = FieldWriter()
        fields.add(Wire.Tag.kind, "picture")
        fields.add(Wire.Tag.format, facts.format.rawValue)
        fields.add(Wire.Tag.width, facts.size.width)
        fields.add(Wire.Tag.height, facts.size.height)
        fields.add(Wire.Tag.orientation, facts.orientation)
        fields.add(Wire.Tag.frames, facts.frames)
        fields.add(Wire.Tag.hasAlpha, facts.hasAlpha)
        fields.add(Wire.Tag.duration, facts.duration)
        fields.add(Wire.Tag.isTruncated, facts.isTruncated)
        fields.add(Wire.Tag.ignoresProfile, facts.ignoresProfile)
        fields.add(Wire.Tag.memory, facts.memory)
        for number in facts.regions.flatMap(\.numbers) { fields.add(Wire.Tag.region, number) }
        if let colours = facts.colours { fields.add(colours) }
        let rights = facts.rights
        if !rights.isEmpty {
            for text in [rights.creator, rights.credit, rights.notice, rights.sourceType] {
                fields.add(Wire.Tag.rights, text)
            }
        }
        if let keep { fields.add(keep, as: Wire.Tag.part) }
        return fields.bytes
    }

    fileprivate init?(_ fields: Fields) {
        guard fields.text(Wire.Tag.kind) == "picture",
            let format = fields.text(Wire.Tag.format).flatMap({ ImageFormat(rawValue: $0) }),
            let size = PixelSize(fields), let orientation = fields.int(Wire.Tag.orientation, in: 1...8),
            let frames = fields.int(Wire.Tag.frames, in: Wire.frames), let hasAlpha = fields.bool(Wire.Tag.hasAlpha),
            let duration = fields.int(Wire.Tag.duration, in: 0...Wire.milliseconds),
            let isTruncated = fields.bool(Wire.Tag.isTruncated),
            let ignoresProfile = fields.bool(Wire.Tag.ignoresProfile),
            let memory = fields.int(Wire.Tag.memory, in: 0...Wire.memory),
            let keep = fields.ranges(Wire.Tag.part, limit: Self.pieceLimit)
        else { return nil }
        let facts = PictureFacts(
            format: format, size: size, orientation: orientation, frames: frames, hasAlpha: hasAlpha,
            duration: duration,
            isTruncated: isTruncated, ignoresProfile: ignoresProfile, colours: ColourCodes(fields),
            rights: PictureRights(parsing: fields.all(Wire.Tag.rights)), memory: memory,
            regions: [KeptRegion](checking: fields.ints(Wire.Tag.region)) ?? [])
        self.init(facts: facts, keep: keep.isEmpty ? nil : keep)
    }
}

extension PictureRights {
    /// Reads texts in the message's order, and cleans them, because a child is not trusted to have done so.
    fileprivate init(parsing parts: [ArraySlice<UInt8>]) {
        let texts = parts.map { String(decoding: $0.prefix(PictureRights.packetLimit), as: UTF8.self) }
        guard texts.count == 4 else {
            self.init()
            return
        }
        self.init(creator: texts[0], credit: texts[1], notice: texts[2], sourceType: texts[3])
    }
}

/// The only failures with which an inspector may refuse a picture.
extension RenderFailure {
    fileprivate var fields: [UInt8] {
        var fields = FieldWriter()
        fields.add(Wire.Tag.kind, kind.rawValue)
        switch self {
        case .unrecognised(let text), .unreadable(let text): fields.add(Wire.Tag.reason, text)
        case .unsupported(let format): fields.add(Wire.Tag.format, format.rawValue)
        case .malformed(let format, let reason), .unsupportedFeature(let format, let reason):
            fields.add(Wire.Tag.format, format.rawValue)
            fields.add(Wire.Tag.reason, reason)
        case .tooManyPixels(let size, let limit):
            fields.add(Wire.Tag.width, size.width)
            fields.add(Wire.Tag.height, size.height)
            fields.add(Wire.Tag.limit, limit)
        case .tooManyScans(let limit), .tooManyChunks(let limit): fields.add(Wire.Tag.limit, limit)
        case .tooMuchMemory(let format, let bytes, let memory):
            fields.add(Wire.Tag.format, format.rawValue)
            fields.add(Wire.Tag.bytes, bytes)
            fields.add(Wire.Tag.limit, memory)
        default: fields.add(Wire.Tag.reason, description)
        }
        return fields.bytes
    }

    fileprivate init?(_ fields: Fields) {
        let format = fields.text(Wire.Tag.format).flatMap { ImageFormat(rawValue: $0) }
        let reason = fields.told(Wire.Tag.reason)
        let limit = fields.int(Wire.Tag.limit, in: 0...Int.max) ?? 0
        let count = fields.int(Wire.Tag.bytes, in: 0...Int.max) ?? 0
        switch (fields.text(Wire.Tag.kind).flatMap { Code(rawValue: $0) }, format) {
        case (.unrecognised, _): self = .unrecognised(reason: reason)
        case (.unreadable, _): self = .unreadable(reason: reason)
        case (.unsupported, let format?):
            self = reason.isEmpty ? .unsupported(format) : .unsupportedFeature(format, reason: reason)
        case (.malformed, let format?): self = .malformed(format, reason: reason)
        case (.tooManyPixels, _):
            guard let size = PixelSize(fields) else { return nil }
            self = .tooManyPixels(size, limit: limit)
        case (.tooManyScans, _): self = .tooManyScans(limit: limit)
        case (.tooManyChunks, _): self = .tooManyChunks(limit: limit)
        case (.tooMuchMemory, let format?): self = .tooMuchMemory(format, bytes: count, memory: limit)
        default: return nil
        }
    }
}

extension FieldWriter {
    fileprivate mutating func add(_ ranges: [Range<Int>], as tag: UInt16) {
        for range in ranges {
            add(tag, range.lowerBound)
            add(tag, range.upperBound)
        }
    }
}

extension Fields {
    /// Ascending ranges without overlap; nil if they overlap, or exceed the limit.
    fileprivate func ranges(_ tag: UInt16, limit: Int) -> [Range<Int>]? {
        let bounds = ints(tag)
        guard bounds.count % 2 == 0, bounds.count <= 2 * limit, bounds.count == all(tag).count,
            (bounds.first ?? 0) >= 0,
            zip(bounds, bounds.dropFirst()).allSatisfy({ $0 <= $1 })
        else { return nil }
        return stride(from: 0, to: bounds.count, by: 2).map { bounds[$0]..<bounds[$0 + 1] }
    }
}
