internal import CAllocations
internal import CommandLine
internal import DirectPath
internal import Glibc
internal import Posix
internal import RenderKit
internal import RenderProtocol
internal import Seccomp
internal import VariantSpec
internal import Vips

/// The renderer program: started by the pool with a socket, it forks processes that render. Run by hand, it only
/// explains itself.
///
/// It avoids the cooperative pool, whose threads the sandbox would have to allow.
struct RendererCommand {
    let words: [String]
    private static let program = ChildProgram(
        "mezzotint-renderer", does: "Decode and encode images for mezzotint-worker")
    private static let files = 32
    /// Time limit for libvips's idle threads to end.
    private static let longestIdle = Duration.seconds(2)
    /// Decoded pixels of most pictures, at their decoded size; glibc's own limit is half of it.
    private static let keptBytes = 32 << 20

    /// Memory that most renders need at once, below the kept size: only address space until a child uses it.
    private static let readyBytes = 24 << 20

    func run() -> Never {
        switch words.first {
        case "parent" where PacketSocket.isSocket(ChildProgram.socket): serve()
        case "check" where words.count > 1 && RendererCheck(rawValue: words[1]) != nil:
            RendererCheck(rawValue: words[1])?.run(
                confine: { () throws(SystemFailure) in try confine(ProcessMemory.mapped) }, dataBytes: dataLimit)
            exit(2)
        default: Self.program.explain(words)
        }
    }

    private func serve() -> Never {
        do throws(EngineFailure) {
            Sandbox.useOneArena()
            Sandbox.keepFreedMemory(upTo: Self.keptBytes)
            Sandbox.fixTimeZone()
            let compiles = Sandbox.mayCompile
            let engine = try Sandbox.withoutFiles { () throws(EngineFailure) in
                try VipsEngine(formats: formats, compiles: compiles, checkJPEG: JPEGCheck.run)
            }
            // The direct path has its own decoder for JPEGs, so only libvips's loaders depend on the named formats.
            let asked = value(of: "--engine").flatMap(EngineChoice.init) ?? .direct
            switch formats.contains(.jpeg) ? asked : .libvips {
            case .libvips: try serve(engine)
            case .direct: try serve(DirectEngine(before: engine))
            case .portable: try serve(DirectEngine(before: engine, isPortable: true))
            }
        } catch {
            Console.complain("mezzotint-renderer: libvips did not start: \(error)")
            exit(1)
        }
    }

    private func serve(_ engine: some RenderEngine) throws(EngineFailure) -> Never {
        let service = RendererService(
            engine: engine, readyBytes: Self.readyBytes, takeRefusedBytes: { Int(clamping: mz_take_refused_bytes()) },
            endIfThreadless: { if mz_take_refused_thread() != 0 { _exit(RenderReply.threadStatus) } })
        if formats.contains(.jpeg) { try service.warm() }
        do throws(SystemFailure) {
            // Replaces Swift's own backtraces, which would break the filter.
            mz_exit_when_refused(RenderReply.memoryStatus, RenderReply.threadStatus)
            // Only a process with one thread can enter a user namespace, and children of a process with several may
            // hang.
            let isSingle = ForkServer.isSingleThreaded(within: Self.longestIdle) { mz_end_idle_threads() }
            mz_keep_idle_threads()
            guard isSingle else {
                Console.complain("mezzotint-renderer: it has \(ForkServer.threads) threads, and can't be forked")
                exit(1)
            }
            let shared = ForkServer.sharedMemory
            guard shared.isEmpty else {
                Console.complain(
                    "mezzotint-renderer: its children would share writable memory, so it does not fork: \(shared). "
                        + "Report this with the versions that mezzotint doctor prints")
                exit(1)
            }
            let mapped = ProcessMemory.mapped
            _ = Sandbox.enterLayers(first: { SystemCallFilter.loadForFirst() }, children: number("--children") ?? 1)
            try confine(mapped)
            try serve(service, greeting)
            // Nothing here needs the exit handlers, and they could hang under the filter.
            _exit(0)
        } catch {
            Console.complain("mezzotint-renderer: \(error)")
            _exit(1)
        }
    }

    private var cpuSeconds: Int { number("--cpu-limit") ?? 3600 }

    private func confine(_ mapped: Int?) throws(SystemFailure) {
        try Sandbox.limit(dataBytes: dataLimit, cpuSeconds: nil, files: Self.files, mapped: mapped)
    }

    /// The greeting for the pool, which decides whether a renderer may run without a filter. Loads the filter.
    private var greeting: RenderReply {
        do throws(SystemFailure) { try SystemCallFilter.load(for: .parent) } catch {
            return .readyUnfiltered(reason: error.description)
        }
        return .ready
    }

    private func serve(
        _ service: RendererService<some RenderEngine>, _ greeting: RenderReply
    ) throws(SystemFailure) {
        mz_ready_heap(Self.readyBytes)
        guard let own = try RendererParentService(socket: PacketSocket(taking: ChildProgram.socket)).run(greeting)
        else {
            return
        }
        try Sandbox.limitChild(cpuSeconds: cpuSeconds)
        if greeting == .ready { try narrow() }
        try service.run(on: own)
    }

    private func narrow() throws(SystemFailure) {
        do throws(SystemFailure) { try SystemCallFilter.narrow() } catch {
            if mz_take_refused_bytes() > 0 { _exit(RenderReply.memoryStatus) }
            throw error
        }
    }

    private var formats: Set<ImageFormat> {
        guard let names = value(of: "--formats") else { return RenderLimits().formats }
        return Set(names.split(separator: ",").compactMap { ImageFormat(rawValue: String($0)) })
    }

    private var dataLimit: Int { number("--data-limit") ?? RenderLimits.usualDataBytes }

    private func number(_ option: String) -> Int? { value(of: option).flatMap { Int($0) } }

    private func value(of option: String) -> String? {
        guard let place = words.firstIndex(of: option), place + 1 < words.count else { return nil }
        return words[place + 1]
    }
}
