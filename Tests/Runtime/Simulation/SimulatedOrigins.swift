internal import Canonical
internal import Clocks
internal import Digest
internal import Failures
internal import HTTPCache
internal import ImageModel
internal import Images
internal import Ports
internal import Posix
internal import Records
internal import VariantSpec

/// The web: sources at a few hosts, and what they do when they are asked.
final class Origins {
    static let sourceCount = 120
    static let hostCount = 4

    struct Source {
        let key: SourceKey
        let url: SourceURL
        var version = 0
        /// Its bytes are no picture.
        var isHostile: Bool
        var isGone: Bool
    }

    var sources: [Source]
    /// By host: answers 503, or nothing at all, until then.
    var failsUntil = [Int64](repeating: 0, count: hostCount)
    var stallsUntil = [Int64](repeating: 0, count: hostCount)
    /// By host: answers 429 until then, and says so.
    var asksUntil = [Int64](repeating: 0, count: hostCount)

    init(_ catalogue: Catalogue, _ chance: inout Chance) {
        sources = catalogue.sources.enumerated().map { number, source in
            Source(
                key: source.key, url: source.url, isHostile: number % 12 == 7, isGone: number % 12 == 11)
        }
    }

    /// Of a URL of ours: `http://h1.test/17`.
    static func number(of url: String) -> Int { url.split(separator: "/").last.flatMap { Int($0) } ?? 0 }

    /// Where an answer leads, if it does: to the next host, by way of another URL of the first, or on to a third.
    static func redirect(of number: Int, after last: Redirect?) -> Redirect? {
        guard number < sourceCount, number % 5 == 2 else { return nil }
        let hop = (last?.hop ?? 0) + 1
        let steps = [[1], [0, 1], [1, 2]][number / 5 % 3]
        guard hop <= steps.count else { return nil }
        let url = "http://h\((number + steps[hop - 1]) % hostCount).test/\(hop)/\(number)"
        return Redirect(to: url, at: OriginHost(of: url), hop: hop)
    }

    /// Whom a request asks.
    static func host(of request: FetchRequest) -> Int {
        guard let host = request.redirect?.host else { return number(of: request.url.fetched) % hostCount }
        return Self.host(named: host.description)
    }

    static func host(named name: String) -> Int { (0..<hostCount).first { name == "http://h\($0).test" } ?? 0 }

    /// Whom a source's fetch asks, redirects followed.
    static func hosts(of number: Int) -> Set<Int> {
        var hosts: Set = [number % hostCount]
        var last: Redirect?
        while let next = redirect(of: number, after: last) {
            hosts.insert(host(named: next.host.description))
            last = next
        }
        return hosts
    }

    /// Some sources say how long they are fresh: seconds.
    static func head(of number: Int, _ version: Int) -> ResponseHead {
        var head = ResponseHead()
        let fields: [(name: String, value: String)] =
            switch number % 6 {
            case 0, 3: [("etag", "\"\(version)\""), ("cache-control", "max-age=4")]
            case 1: [("etag", "\"\(version)\""), ("cache-control", "max-age=2, stale-while-revalidate=8")]
            case 4: [("cache-control", "max-age=6, must-revalidate")]
            case 5: [("cache-control", number % 12 == 5 ? "no-store" : "no-cache")]
            default: []
            }
        head.fields = ResponseFields(fields)
        return head
    }
}

/// The fetcher port of one process.
final class SimulatedFetcher: Fetcher, @unchecked Sendable {
    private unowned(unsafe) let process: SimulatedProcess
    private var world: World { process.world }

    init(_ process: SimulatedProcess) { self.process = process }

    /// As long as `Naming.limit`.
    private static let named: Int64 = 1_000_000

    func fetch(
        _ request: FetchRequest, nearlyDone: @escaping @Sendable () -> Void
    ) async throws(FetchFailure) -> FetchResponse {
        let answer = try await ask(request, nearlyDone)
        guard world.plants(.followUnasked), case .redirected(let next) = answer else { return answer }
        return try await fetch(
            FetchRequest(url: request.url, lane: request.lane, known: request.known, redirect: next),
            nearlyDone: nearlyDone)
    }

    private func ask(
        _ request: FetchRequest, _ nearlyDone: @escaping @Sendable () -> Void
    ) async throws(FetchFailure) -> FetchResponse {
        let number = Origins.number(of: request.url.fetched)
        guard !process.isDead else { throw .cancelled }
        let (host, partition) = (Origins.host(of: request), world.catalogue.sources[number].partition)
        if request.redirect == nil { world.pauses.lookAtStart(of: number, request.lane, by: process) }
        let flight = world.flights.begin(number, .fetch, request.lane, process, at: host)
        defer {
            if let flight {
                let flights = world.flights
                if world.plants(.fetchOn) {
                    world.tick(after: 1_000_000) { flights.end(flight) }
                } else {
                    flights.end(flight)
                }
            }
        }
        let answer = await process.ask(
            or: Result<FetchResponse, FetchFailure>.failure(.cancelled),
            cancelled: world.plants(.deafFetch) ? nil : .failure(.cancelled)
        ) { done in
            let source = world.origins.sources[number]
            let asked = process.askedToWait[host]
            // What was granted before may have waited for its name in a row.
            if asked.at + Self.named < world.now, world.now < asked.until {
                world.fail(.politeness, "host \(host) by worker \(process.number)")
            }
            world.poisonJobs.meet(number, .fetch, process)
            world.hopeless.meet(number)
            world.note("fetch", Int64(process.number), Int64(number), request.lane == .fast ? 0 : 1, Int64(host))
            if world.origins.stallsUntil[host] > world.now {
                world.count(.originStalled)
                return world.after(5_000_000) { done(.failure(.deadline(url: source.url, phase: "no answer"))) }
            }
            world.after(world.chance.within(5_000...400_000)) { [world, process] in
                if world.origins.failsUntil[host] > world.now || Hopeless.number(of: number) != nil {
                    world.count(.originFailed)
                    return done(.failure(.status(url: source.url, 503)))
                }
                if world.origins.asksUntil[host] > world.now {
                    world.count(.originAsked)
                    process.named[host] = world.origins.asksUntil[host]
                    let wait = (world.origins.asksUntil[host] - world.now) / 1_000_000 + 1
                    return done(
                        .failure(
                            .status(url: source.url, 429, retryAfter: world.plants(.forgetWait) ? nil : .seconds(wait)))
                    )
                }
                if let next = Origins.redirect(of: number, after: request.redirect) {
                    world.count(
                        next.host == (request.redirect?.host ?? OriginHost(of: source.url.fetched))
                            ? .originMoved : .originLedAway)
                    return done(.success(.redirected(next)))
                }
                if source.isGone {
                    world.count(.originGone)
                    return done(.failure(.status(url: source.url, 404)))
                }
                let version = world.origins.sources[number].version
                var head = Origins.head(of: number, version)
                head.location = request.redirect?.url
                if request.known?.location == head.location,
                    request.known?.conditions.contains(where: { $0.value == head.fields.single("etag") }) == true
                {
                    world.count(.originConfirmed)
                    return done(.success(.notModified(head)))
                }
                let bytes = Array((source.isHostile ? "bomb \(number)" : "source \(number) \(version)").utf8)
                let source = FetchedSource(body: file(of: bytes), digest: SHA256.digest(of: bytes), head: head)
                guard number.isMultiple(of: 3) else { return done(.success(.source(source))) }
                // The rest of a long body is on its way.
                nearlyDone()
                world.after(20_000) { done(.success(.source(source))) }
            }
        }
        if case .failure(.status(_, 429, _)) = answer {
            process.askedToWait[host] = (world.now, process.named[host])
        }
        if case .failure(.cancelled) = answer, let flight, flight.epoch == process.consumer.epoch(of: partition) {
            world.count(.fetchAborted)
        }
        return try answer.get()
    }
}

/// The renderer port of one process: pictures are texts that say what they show.
final class SimulatedRenderer: Renderer, @unchecked Sendable {
    private unowned(unsafe) let process: SimulatedProcess
    private var world: World { process.world }

    init(_ process: SimulatedProcess) { self.process = process }

    func inspect(_ file: OpenFile) throws(RenderFailure) -> Picture {
        let words = self.words(of: file)
        switch words.first {
        case "source":
            return picture(PixelSize(width: 2_400, height: 1_600), file)
        case "variant" where words.count == 6:
            return picture(PixelSize(width: Int(words[4]) ?? 1, height: Int(words[5]) ?? 1), file)
        default:
            world.count(.hostilePicture)
            throw .malformed(.jpeg, reason: "it is none")
        }
    }

    private func picture(_ size: PixelSize, _ file: OpenFile) -> Picture {
        Picture(
            facts: PictureFacts(format: .jpeg, size: size, orientation: 1, frames: 1, hasAlpha: false), file: file)
    }

    private func words(of file: OpenFile) -> [Substring] {
        let bytes = (try? file.allBytes()) ?? []
        return String(decoding: bytes, as: UTF8.self).split(separator: " ")
    }

    func render(
        _ picture: Picture, _ orders: [RenderOrder], isReuse: Bool, origin: String?
    ) async throws(RenderFailure) -> [RenderedVariant] {
        guard !process.isDead else { throw .unavailable(reason: "killed") }
        let words = words(of: picture.file)
        let number = Int(words[1]) ?? 0
        let version = words[2]
        world.pauses.lookAtStart(of: number, nil, by: process)
        let flight = world.flights.begin(number, .render, nil, process)
        defer { flight.map { world.flights.end($0) } }
        let gone = Result<[RenderedVariant], RenderFailure>.failure(.unavailable(reason: "killed"))
        return try await process.ask(or: gone) { done in
            world.poisonJobs.meet(number, .render, process)
            world.note("render", Int64(process.number), Int64(number), Int64(orders.count), isReuse ? 1 : 0)
            world.count(isReuse ? .reuse : .render)
            let rendererFails = world.rendererFailsUntil > world.now
            if rendererFails, world.chance.isOne(in: 3) {
                let failure: RenderFailure
                var time: Int64 = 50_000
                switch world.chance.below(4) {
                case 0:
                    world.count(.rendererCrashed)
                    failure = .crashed(reason: "signal 11")
                case 1:
                    world.count(.rendererHung)
                    (failure, time) = (.deadline(milliseconds: 6_000), 6_000_000)
                case 2:
                    world.count(.rendererAbsent)
                    failure = .unavailable(reason: "no program")
                default:
                    world.count(.variantRefused)
                    failure = .output(orders[world.chance.below(orders.count)].spec, reason: "too large for its format")
                }
                return world.after(time) { done(.failure(failure)) }
            }
            let time =
                world.floodUntil > world.now
                ? world.chance.within(200_000...1_200_000) : world.chance.within(20_000...300_000)
            world.after(time) {
                done(
                    .success(
                        orders.map { order in
                            let text =
                                "variant \(number) \(version) \(order.spec) \(order.output.width) \(order.output.height)"
                            return RenderedVariant(
                                spec: order.spec,
                                rendition: Rendition(
                                    size: order.output, hasAlpha: false, quality: order.spec.quality,
                                    isOfDrawing: false),
                                content: FileSlice(whole: file(of: Array(text.utf8))))
                        }))
            }
        }.get()
    }
}
