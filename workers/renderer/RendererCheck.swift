internal import CommandLine
internal import DirectPath
internal import Glibc
internal import Posix
internal import Seccomp
internal import Vips

/// The hidden `check WHAT`, for `mezzotint doctor`: reports the libraries' versions over the socket, or tries an act
/// that the sandbox must prevent.
enum RendererCheck: String {
    case versions, calls, layers, open, exec, socket, signal, share, memory, threads

    /// Exit status after an act that succeeded.
    private static let passed: Int32 = 3

    /// - Parameter dataBytes: most memory of the process.
    func run(confine: () throws(SystemFailure) -> Void, dataBytes: Int) -> Never {
        if self == .versions {
            let text = ([("libvips", VipsEngine.version)] + DirectVersions.all).map { "\($0) \($1)" }
                .joined(separator: ", ")
            tell(text)
            exit(0)
        }
        func enclose() throws(SystemFailure) {
            try confine()
            try SystemCallFilter.load(for: .parent)
            try SystemCallFilter.narrow()
        }
        if self == .calls { CallCheck.run(socket: ChildProgram.socket, confine: enclose) }
        if self == .layers {
            let layers = Sandbox.enterLayers { SystemCallFilter.loadForFirst() } + [Sandbox.enterChildLayer()]
            tell(layers.map { "\($0.layer.rawValue)\t\($0.failure?.description ?? "")" }.joined(separator: "\n"))
            _exit(0)
        }
        let parent = getppid()
        if self == .threads { _ = Sandbox.enterLayers(first: nil) }
        do throws(SystemFailure) { try enclose() } catch {
            tell(error.description)
            exit(error.call == "limit" ? 4 : 1)
        }
        let isRefused =
            switch self {
            case .versions, .calls, .layers: true
            case .open: Glibc.open("/etc/passwd", O_RDONLY) < 0
            case .exec: execv("/bin/true", [nil]) < 0
            case .socket: Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0) < 0
            // Signal 0 only asks for permission.
            case .signal: !Sandbox.maySignal(parent)
            case .memory:
                mmap(nil, dataBytes + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED
            case .share: mmap(nil, 4_096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0) == MAP_FAILED
            case .threads: !Self.makesThreads(1_000)
            }
        _exit(isRefused ? 0 : Self.passed)
    }

    /// Starts threads that do nothing, with little memory each.
    private static func makesThreads(_ count: Int) -> Bool {
        var how = pthread_attr_t()
        pthread_attr_init(&how)
        pthread_attr_setstacksize(&how, 64 << 10)
        return (0..<count).allSatisfy { _ in
            var thread = pthread_t()
            return pthread_create(
                &thread, &how,
                { _ in
                    var long = timespec(tv_sec: 60, tv_nsec: 0)
                    clock_nanosleep(CLOCK_MONOTONIC, 0, &long, nil)
                    return nil
                }, nil) == 0
        }
    }

    private func tell(_ text: String) { try? PacketSocket(taking: ChildProgram.socket).send(Array(text.utf8)) }
}
