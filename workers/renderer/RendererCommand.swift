internal import CAllocations
internal import CommandLine
internal import DirectPath
internal import Glibc
internal import Posix
internal import Rendering
internal import Seccomp
internal import VariantSpec
internal import Vips

/// The renderer program: started by the pool with a socket, it serves renders; by hand it only says what it is.
///
/// It stays off the cooperative pool, whose threads a sandbox would have to allow.
struct RendererCommand {
    let words: [String]
    /// Where the pool puts the socket.
    static let socket: Int32 = 3
    private static let files = 32
    /// The decoded pixels of most pictures, at what size they are decoded; glibc's own limit is half of it.
    private static let keptBytes = 32 << 20

    private static let about = """
        OVERVIEW: Decode and encode pictures for mezzotint-worker, which starts this
        with a socket and ends it. There is nothing to run by hand.

        USAGE: mezzotint-renderer [--config <file>]

        OPTIONS:
          --config <file>  Accepted, not read: what it needs comes with each job.
          --help           Show this help.
          --version        Show the version.

        EXAMPLES (pictures are rendered by publishing jobs and running the worker):
          mezzotint publish --variants 640x480-q80.webp https://example.org/a.jpg
          mezzotint-worker --until-idle
        """

    func run() -> Never {
        switch words.first {
        case "serve" where PacketSocket.isSocket(Self.socket): serve()
        case "check" where words.count > 1 && RendererCheck(rawValue: words[1]) != nil:
            RendererCheck(rawValue: words[1])?.run(confine: confine, dataBytes: dataLimit)
            exit(2)
        case "bench": BareBenchmark.run(Array(words.dropFirst()))
        case "--help", "-h": explain()
        case "--version":
            Console.print("mezzotint-renderer \(Command.version)")
            exit(0)
        // Every program takes it; there is nothing in it for this one.
        case "--config" where words.count == 2: explain()
        case let word? where words.count == 1 && word.hasPrefix("--config="): explain()
        case nil: refuse("Nothing runs by hand here: mezzotint-worker starts renderers.")
        case "--config": refuse("'--config <file>' needs one value.")
        case "serve": refuse("'serve' needs the socket that mezzotint-worker gives it.")
        case let word?:
            refuse(word.hasPrefix("-") ? "There is no option '\(word)'." : "Unexpected argument '\(word)'.")
        }
    }

    private func refuse(_ sentence: String) -> Never {
        Console.complain("mezzotint-renderer: \(sentence) See 'mezzotint-renderer --help'.")
        exit(2)
    }

    private func explain() -> Never {
        Console.print(Self.about)
        exit(0)
    }

    private func serve() -> Never {
        do throws(SystemFailure) {
            Sandbox.useOneArena()
            Sandbox.keepFreedMemory(upTo: Self.keptBytes)
            Sandbox.fixTimeZone()
            let engine: VipsEngine
            do throws(EngineFailure) { engine = try VipsEngine(formats: formats) } catch {
                Console.complain("mezzotint-renderer: libvips did not start: \(error)")
                exit(1)
            }
            // In the place of Swift's own backtraces, which would break the filter.
            mz_exit_when_refused(RenderReply.memoryStatus)
            try confine()
            let greeting = filtered()
            // The direct path has a decoder of its own, for JPEGs: libvips's loaders alone are shut where they are not named.
            let asked = value(of: "--engine").flatMap(EngineChoice.init) ?? .direct
            switch formats.contains(.jpeg) ? asked : .libvips {
            case .libvips: try serve(engine, greeting)
            case .direct: try serve(DirectEngine(before: engine), greeting)
            case .portable: try serve(DirectEngine(before: engine, isPortable: true), greeting)
            }
            // Nothing here needs what runs at exit, and it could hang under the filter.
            _exit(0)
        } catch {
            Console.complain("mezzotint-renderer: \(error)")
            _exit(1)
        }
    }

    private func confine() throws(SystemFailure) {
        try Sandbox.limit(
            dataBytes: dataLimit, cpuSeconds: value(of: "--cpu-limit").flatMap { Int($0) } ?? 3600, files: Self.files)
    }

    /// How the pool is greeted, which knows whether a child without a filter may go on.
    private func filtered() -> RenderReply {
        do throws(SystemFailure) { try SystemCallFilter.load() } catch {
            return .readyUnfiltered(reason: error.description)
        }
        return .ready
    }

    private func serve(_ engine: some RenderEngine, _ greeting: RenderReply) throws(SystemFailure) {
        try RendererService(
            engine: engine, socket: PacketSocket(taking: Self.socket), takeRefusedBytes: { Int(clamping: mz_take_refused_bytes()) }
        ).run(greeting)
    }

    private var formats: Set<ImageFormat> {
        guard let names = value(of: "--formats") else { return RenderLimits().formats }
        return Set(names.split(separator: ",").compactMap { ImageFormat(rawValue: String($0)) })
    }

    private var dataLimit: Int { value(of: "--data-limit").flatMap { Int($0) } ?? RendererConfiguration.usualDataBytes }

    private func value(of option: String) -> String? {
        guard let place = words.firstIndex(of: option), place + 1 < words.count else { return nil }
        return words[place + 1]
    }
}
