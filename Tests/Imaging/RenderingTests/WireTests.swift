internal import Images
import RendererPool
import TestSupport
internal import Testing
internal import VariantSpec

@testable internal import RenderProtocol

@Suite("The wire between worker and renderer", .timeLimit(.minutes(1)))
struct WireTests {
    private static let request = RenderRequest(
        facts: PictureFacts(
            format: .webp, size: PixelSize(width: 4001, height: 3000), orientation: 6, frames: 3, hasAlpha: true),
        isReuse: true, deadlineMilliseconds: 10_000,
        outputs: (1...RenderRequest.outputLimit).map { i in
            RenderOutput(
                format: .jpeg, quality: i, effort: i % 7, size: PixelSize(width: i, height: 2 * i),
                crop: Region(x: Double(i) / 3, y: 0.1, width: 100.7, height: Double(i)))
        })

    @Test("A request of 64 outputs comes back as it was, within one message")
    func request() throws {
        var request = Self.request
        request.carry([UInt8](repeating: 7, count: PictureRights.packetLimit))
        #expect(request.message.count <= Wire.messageLimit)
        #expect(try RenderRequest(message: request.message) == request && request.outputs[63].packet == request.packet)
    }

    @Test("What few outputs ask for comes back too, and what came of it")
    func extras() throws {
        var request = Self.request
        request.facts = PictureFacts(
            format: .gif, size: PixelSize(width: 9, height: 8), orientation: 1, frames: 3, hasAlpha: true, duration: 70,
            memory: 1 << 50)
        request.watermarks = [RenderWatermark(key: "logo", format: .png), RenderWatermark(key: "b", format: .webp)]
        request.outputs[1].spec = try VariantSpec("160y160-q70-smart-trim-blur3-bg102030-wmlogo-upto9000.webp")
        (request.outputs[2].isAnimated, request.outputs[3].isProgressive) = (true, true)
        request.outputs[4].ceiling = 1 << 40
        #expect(try RenderRequest(message: request.message) == request)
        #expect(!request.outputs[1].isPlain && !request.outputs[2].isPlain && request.outputs[5].isPlain)
        var output = RenderedOutput(size: PixelSize(width: 3, height: 4), bytes: 99, hasAlpha: true)
        (output.frames, output.quality) = (12, 41)
        output.crop = Region(x: 1.5, y: 2, width: 3, height: 4)
        (output.placeholder.thumbHash, output.placeholder.colour) = ([1, 2, 250], RGB(9, 8, 7))
        for isOfDrawing in [nil, false, true] {
            output.isOfDrawing = isOfDrawing
            #expect(RenderReply(message: RenderReply.rendered([output]).message) == .rendered([output]))
        }
    }

    @Test(
        "A reply comes back as it was",
        arguments: [
            RenderReply.ready,
            .rendered([RenderedOutput(size: PixelSize(width: 3, height: 4), bytes: 99, hasAlpha: true)]),
            .failed(.source(reason: "Premature end")), .failed(.output(3, reason: "too wide")),
            .failed(.noSpace(reason: "full")), .failed(.memory(output: nil, reason: "9 bytes more")),
            .failed(.memory(output: 3, reason: "more")), .readyUnfiltered(reason: "none"),
            .failed(.protocolMismatch(reason: "version")),
        ])
    func reply(_ reply: RenderReply) { #expect(RenderReply(message: reply.message) == reply) }

    @Test("A field that this version does not know is passed over")
    func newerField() throws {
        var extra = FieldWriter()
        extra.add(999, "an effect of tomorrow")
        #expect(try RenderRequest(message: Self.request.message + extra.bytes) == Self.request)
    }

    @Test("Another version is refused by name")
    func otherVersion() {
        var fields = FieldWriter()
        fields.add(Wire.Tag.version, Wire.version + 1)
        #expect { try RenderRequest(message: fields.bytes) } throws: { "\($0)".contains("version 2") }
        #expect(RenderReply(message: fields.bytes) == nil)
    }

    @Test("A number that no field has is not believed, whichever side says it")
    func numbers() {
        var output = RenderedOutput(size: PixelSize(width: 3, height: 4), bytes: 99, hasAlpha: true)
        (output.frames, output.quality, output.crop) = (12, 41, Region(x: 1, y: 2, width: 3, height: 4))
        let reply = RenderReply.rendered([output, output]).message
        var believed = 0
        for number in [Int64.min, -1, 0, 1, 1 << 31, 1 << 52, .max] {
            let bytes = withUnsafeBytes(of: number.littleEndian) { Array($0) }
            for place in 0...reply.count - 8 {
                var message = reply
                message.replaceSubrange(place..<place + 8, with: bytes)
                guard case .rendered(let outputs) = RenderReply(message: message) else { continue }
                believed += 1
                for output in outputs {
                    #expect((1...1 << 40).contains(output.bytes) && (1...1 << 20).contains(output.frames))
                    #expect(output.size.pixels > 0 && output.quality.map { (0...100).contains($0) } ?? true)
                    #expect(output.crop.map { (0.5...Double(1 << 31)).contains($0.width) } ?? true)
                }
            }
            let request = Self.request.message
            for place in 0..<120 {
                var message = request
                message.replaceSubrange(place..<place + 8, with: bytes)
                guard let read = try? RenderRequest(message: message) else { continue }
                believed += 1
                #expect((1...1 << 20).contains(read.facts.frames) && (0...1 << 40).contains(read.deadlineMilliseconds))
                #expect((1...1 << 62).contains(read.memoryEstimate))
            }
        }
        #expect(believed > 50)
    }

    @Test(
        "A render's deadline grows with its pixels, of all frames where it moves, to two and a half times the usual",
        arguments: [
            (4_000, 3_000, 1, 10_000), (8_000, 6_000, 1, 12_002), (1_000, 500, 60, 15_000), (1_000, 500, 100, 25_000),
            (50, 50, 900, 10_000),
        ])
    func deadline(width: Int, height: Int, frames: Int, milliseconds: Int) {
        let size = PixelSize(width: width, height: height)
        let shown = frames > 1 ? size : PixelSize(width: 100, height: 80)
        var output = RenderOutput(format: .webp, quality: 80, effort: 4, size: shown, crop: Region(whole: size))
        output.isAnimated = frames > 1
        let facts = PictureFacts(format: .gif, size: size, orientation: 1, frames: frames, hasAlpha: false)
        let request = RenderRequest(facts: facts, isReuse: false, deadlineMilliseconds: 0, outputs: [output])
        #expect(request.deadline(10_000) == milliseconds)
    }

    private static let inspected = InspectionReply([
        .success(
            InspectedPicture(
                facts: PictureFacts(
                    format: .gif, size: PixelSize(width: 9, height: 8), orientation: 6, frames: 3, hasAlpha: true,
                    duration: 70,
                    isTruncated: true, ignoresProfile: true, rights: PictureRights(creator: "A", notice: "©"), memory: 77,
                    regions: [KeptRegion](checking: [1, 2, 3, 4, 5, 6, 7, 8]) ?? []),
                keep: [0..<8, 90..<90, 90..<1 << 40])),
        .failure(.unrecognised(reason: "nothing")), .failure(.unsupported(.tiff)), .failure(.unreadable(reason: "EIO")),
        .failure(.malformed(.png, reason: "no IHDR")), .failure(.tooManyScans(limit: 64)),
        .failure(.tooManyChunks(limit: 9)),
        .failure(.tooManyPixels(PixelSize(width: 1 << 20, height: 7), limit: 50)),
        .failure(.tooMuchMemory(.jpeg, bytes: 1 << 50, memory: 7)),
    ])

    @Test(
        "What an inspector is asked and answers comes back as it was; what it may not say, and ranges that cross, do not"
    )
    func inspection() {
        var limits = RenderLimits(formats: [.jpeg, .svg], pixels: 1, frames: 2, scans: 3, chunks: 4, profileBytes: 5)
        limits.memory = .max
        let request = InspectionRequest(
            limits: limits, parts: (0..<RenderRequest.outputLimit).map { $0 * 10..<$0 * 10 + 9 }, isOutput: true)
        #expect(InspectionRequest(message: request.message) == request)
        #expect(InspectionReply(message: Self.inspected.message) == Self.inspected)
        for failure in [RenderFailure.noSpace(reason: ""), .unavailable(reason: ""), .deadline(milliseconds: 1)] {
            #expect(InspectionReply(message: InspectionReply([.failure(failure)]).message) == nil)
        }
        for keep in [[5..<9, 4..<7], [0..<9, 8..<12], Array(repeating: 0..<1, count: 257)] {
            let picture = InspectedPicture(
                facts: PictureFacts(
                    format: .png, size: PixelSize(width: 1, height: 1), orientation: 1, frames: 1, hasAlpha: false),
                keep: keep)
            #expect(InspectionReply(message: InspectionReply([.success(picture)]).message) == nil)
        }
    }

    @Test(
        "What is said between a worker and a renderers' parent comes back as it was",
        arguments: [ParentReply.forked(7), .ended(signal: 11), .exited(status: 0), .failed(12)])
    func parent(_ reply: ParentReply) {
        #expect(ParentReply(message: reply.message) == reply)
        #expect(ParentRequest(message: ParentRequest.fork.message) == .fork)
        #expect(ParentRequest(message: ParentRequest.reap(9).message) == .reap(9))
        #expect(ParentRequest(message: []) == nil && ParentReply(message: []) == nil)
    }

    @Test("No damaged message traps, and none passes for 65 outputs")
    func damage() {
        var random = SeededRandom(seed: 7)
        let messages = [
            Self.request.message, RenderReply.failed(.output(3, reason: "too wide")).message, Self.inspected.message,
            InspectionRequest(limits: RenderLimits(), parts: [0..<9]).message, ParentReply.forked(7).message,
        ]
        for _ in 0..<Effort.count(fast: 10_000, landing: 20_000, all: 200_000) {
            var message = messages[Int(random.next() % UInt64(messages.count))]
            for _ in 0..<1 + random.next() % 4 {
                message[Int(random.next() % UInt64(message.count))] = UInt8(truncatingIfNeeded: random.next())
            }
            message.removeLast(Int(random.next() % 8))
            _ = try? RenderRequest(message: message)
            _ = RenderReply(message: message)
            _ = InspectionRequest(message: message)
            _ = InspectionReply(message: message)
            _ = ParentReply(message: message)
        }
        var many = Self.request
        many.outputs.append(many.outputs[0])
        #expect(throws: EngineFailure.self) { try RenderRequest(message: many.message) }
    }
}
