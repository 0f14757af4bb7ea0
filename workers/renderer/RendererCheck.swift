internal import CommandLine
internal import DirectPath
internal import Glibc
internal import Posix
internal import Seccomp
internal import Vips

/// The hidden `check WHAT`, for `mezzotint doctor`: the libraries' versions by the socket, or an act that the sandbox must
/// not let pass.
enum RendererCheck: String {
    case versions, calls, layers, open, exec, socket, signal, share, memory

    /// How a process ends whose act was let pass.
    private static let passed: Int32 = 3

    /// - Parameter dataBytes: the most memory that it may have.
    func run(confine: () throws(SystemFailure) -> Void, dataBytes: Int) -> Never {
        if self == .versions {
            let text = ([("libvips", VipsEngine.version)] + DirectVersions.all).map { "\($0) \($1)" }
                .joined(separator: ", ")
            tell(text)
            exit(0)
        }
        if self == .calls {
            CallCheck.run(socket: ChildProgram.socket) { () throws(SystemFailure) in
                try confine()
                try SystemCallFilter.load(for: .parent)
                try SystemCallFilter.narrow()
            }
        }
        if self == .layers {
            let layers = Sandbox.enterLayers(forks: true)
            tell(layers.map { "\($0.layer.rawValue)\t\($0.failure?.description ?? "")" }.joined(separator: "\n"))
            _exit(0)
        }
        let parent = getppid()
        do throws(SystemFailure) {
            try confine()
            try SystemCallFilter.load(for: .renderer)
        } catch {
            tell(error.description)
            exit(error.call == "limit" ? 4 : 1)
        }
        let isRefused =
            switch self {
            case .versions, .calls, .layers: true
            case .open: Glibc.open("/etc/passwd", O_RDONLY) < 0
            case .exec: execv("/bin/true", [nil]) < 0
            case .socket: Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0) < 0
            // Signal 0 does nothing but ask whether it may.
            case .signal: !Sandbox.maySignal(parent)
            case .memory:
                mmap(nil, dataBytes + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED
            case .share: mmap(nil, 4_096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0) == MAP_FAILED
            }
        _exit(isRefused ? 0 : Self.passed)
    }

    private func tell(_ text: String) { try? PacketSocket(taking: ChildProgram.socket).send(Array(text.utf8)) }
}
