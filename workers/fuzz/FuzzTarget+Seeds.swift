internal import Canonical
internal import Clocks
internal import Digest
internal import ImageModel
internal import Images
internal import Records
internal import RenderProtocol
internal import VariantSpec

/// Valid inputs to begin with; those of pictures are files.
extension FuzzTarget {
    var seeds: [[UInt8]] {
        switch self {
        case .headers: []
        case .lines:
            [
                "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 12\r\nContent-Type: image/png\r\n\r\n",
                "HTTP/1.0 302 Found\r\nLocation: //b.example/x y?z=1#f\r\nRetry-After: 120\r\n folded\r\n\r\nX: trailer\r\n",
                "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nAge: 9\r\nCache-Control: max-age=\"60\", private\r\n"
                    + "Cache-Control: stale-while-revalidate=9, stale-if-error=9\r\nRetry-After: Sun Nov  6 08:49:38 1994\r\n"
                    + "Expires: 0\r\nLast-Modified: Sunday, 06-Nov-94 08:49:37 GMT\r\nETag: W/\"a\"\r\nVary: Accept, *\r\n\r\n",
                "HTTP/1.1 200\r\nTransfer-Encoding: gzip, chunked\r\nContent-Encoding: br\r\n\r\n",
            ].map { Array($0.utf8) }
        case .replies: Self.messages
        case .records: Self.recordSeeds
        case .urls:
            [
                "http://user:secret@origin.example:8080/a/../b%2fc.jpg?x=1&y=2&X-Amz-Signature=abc#f",
                "http://[::ffff:127.0.0.1]/a?imageView&thumbnail=640y480&quality=70&type=webp",
                "https://b\u{fc}cher.example/%E4%BD%A0?imageView&watermark&type=1&image=YQ==", "10.0.0.0/8",
                "64:ff9b::/96",
                "*.example.com", "8000-8999",
            ].map { Array($0.utf8) }
        case .specs:
            [
                "640x480-q80.webp", "160y160-q70-smart-trim-blur3-bg102030-wmlogo-upto9000.webp", "full.auto",
                "300z200-enlarge-axis5_5-q1.avif", "640x0.gif",
            ].map { Array($0.utf8) }
        }
    }

    private static var messages: [[UInt8]] {
        let size = PixelSize(width: 640, height: 480)
        var output = RenderedOutput(size: size, bytes: 99, hasAlpha: true)
        (output.frames, output.quality, output.crop) = (12, 41, Region(x: 1.5, y: 2, width: 3, height: 4))
        (output.placeholder.thumbHash, output.placeholder.colour) = ([1, 2, 250], RGB(9, 8, 7))
        let facts = PictureFacts(format: .gif, size: size, orientation: 6, frames: 3, hasAlpha: true, duration: 70)
        let replies: [RenderReply] = [
            .ready, .rendered([output, output]), .failed(.output(3, reason: "wide")),
            .failed(.memory(output: 1, reason: "")),
            .failed(.source(reason: "\u{1b}[2J")), .readyUnfiltered(reason: "none"),
        ]
        let inspected = InspectionReply([
            .success(InspectedPicture(facts: facts, keep: [0..<9, 20..<30])), .failure(.malformed(.png, reason: "no")),
            .failure(.tooManyPixels(size, limit: 9)),
        ])
        let order = RenderOutput(
            format: .webp, quality: 80, effort: 4, size: size, crop: Region(x: 0, y: 0, width: 9, height: 9))
        return replies.map(\.message) + [
            inspected.message, InspectionRequest(limits: RenderLimits(), parts: [3..<9], isOutput: true).message,
            ParentReply.forked(7).message, ParentReply.ended(signal: 9).message, ParentRequest.reap(3).message,
            RenderRequest(facts: facts, isReuse: false, deadlineMilliseconds: 9, outputs: [order]).message,
        ]
    }

    private static var recordSeeds: [[UInt8]] {
        let job =
            #"{"url":"http://a.example/b.jpg","variants":["640x480.webp"],"lane":"slow","id":"x","expires":"2030-01-01T00:00:00Z"}"#
        guard let source = SourceKey(hex: String(repeating: "0123456789abcdef", count: 4)),
            let version = SourceVersion(hex: "00ffab0123456789")
        else { return [] }
        let (digest, size) = (SHA256.digest(of: [1]), PixelSize(width: 6000, height: 4003))
        let spec = VariantSpec(width: 640, height: 480, format: .webp)
        let variant = VariantRow(
            source: source, spec: spec, version: version, size: PixelSize(width: 640, height: 427), bytes: 48_211,
            digest: digest, location: "01/23/\(source.hex)/00ffab0123456789/640x480-q80.webp",
            derivedFrom: .donor(spec),
            sourceSize: size, region: Region(x: 0, y: 0.1 + 0.2, width: 6000, height: 4002.3333333333335),
            hasAlpha: false,
            storedAt: .epoch, expires: .epoch, frames: 3, placeholder: [1, 2, 3], colour: RGB(1, 2, 3),
            facts: SourceFacts(format: .gif, frames: 3, orientation: 6))
        let row = SourceRow(
            source: source, url: "http://a.example/\u{e4} \"b\".jpg", version: version, size: size, format: .jpeg,
            bytes: 9,
            digest: digest, hasAlpha: true, original: "01/23/original.jpg", fetchedAt: .epoch,
            expires: WallTime(milliseconds: 253_402_300_799_999))
        let progress = ProgressRow(
            partition: PartitionID(0),
            topics: [
                .jobsFast: TopicProgress(
                    next: 9, committed: 6, fingerprint: RecordFingerprint(offset: 5, timestamp: .epoch))
            ],
            answers: [.outcomes: 7], isClean: false, crashes: 2, away: [.init("https://a.example", ByLane([.fast: 7]))],
            lost: .init(records: 3, at: .epoch), at: .epoch)
        let headers = RecordHeaders(
            ["ce_id", "ce_type", "mz_epoch", "mz_attempt", "mz_lane", "mz_sig"].map { RecordHeader($0, "1") })
        return [
            [0] + Array(job.utf8), [1] + (variant.newRecord(partition: PartitionID(0)).value ?? []),
            [2] + (row.newRecord(partition: PartitionID(0)).value ?? []), [3] + Array(#"{"epoch":7,"owner":"a"}"#.utf8),
            [4] + progress.json, [6] + RecordKey.variant(source, spec).bytes,
            [6] + RecordKey.progress(PartitionID(3)).bytes,
            [7]
                + (OriginRow(host: "http://a.example", slot: 3, at: PartitionID(2), at: .epoch).newRecord().value ?? []),
            [8] + SourceChange(from: row, to: row, stored: [.init(variant)]).headers[0].value,
            [9] + headers.packed, [0x39] + headers.packed, [0xA9] + headers.packed,
            [5]
                + Array(
                    #"{"job":"x","url":"http://a","lane":"fast","kind":"failed","attempts":1,"at":"2030-01-01T00:00:00Z","variants":[],"failure":{"code":"a","message":"b"}}"#
                        .utf8),
        ]
    }
}
