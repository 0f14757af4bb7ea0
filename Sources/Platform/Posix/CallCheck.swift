internal import CPosix
internal import Glibc

/// The hidden `check calls` of programs that confine themselves: makes every system call by its number, each in a
/// sandboxed child of its own.
package enum CallCheck {
    /// Number of x86-64 calls to test: they go up to about 470. x32 calls have the same numbers with a mark.
    private static let count = 512
    private static let x32 = 0x4000_0000
    private static let passed: Int32 = 200
    private static let notConfined: Int32 = 201

    /// Reports over the socket, a line for each number (numbers of the 32-bit ABI begin with `i386`). A line has
    /// `killed` if the filter killed the child, `errno` and its code, `passed`, or how the child ended.
    package static func run(socket: Int32, confine: () throws(SystemFailure) -> Void) -> Never {
        var lines: [String] = []
        let calls = (0..<count).map { ($0, false) } + [(x32 | 39, false), (x32 | 59, false), (20, true), (11, true)]
        for (number, isForeign) in calls {
            let end = Result { () throws(SystemFailure) in
                let pid = try ForkServer.fork()
                if pid == 0 { perform(number, isForeign, confine) }
                return ChildProcess.reap(pid)
            }
            let says =
                switch end {
                case .success(.signal(Int(SIGSYS))): "killed"
                case .success(.status(Int(passed))): "passed"
                case .success(.status(Int(notConfined))): "not confined"
                case .success(.status(let code)) where code > 0: "errno \(code)"
                case .success(let end): "\(end)"
                case .failure(let failure): "\(failure)"
                }
            lines.append("\(isForeign ? "i386 " : "")\(number) \(says)")
        }
        try? PacketSocket(taking: socket).send(Array(lines.joined(separator: "\n").utf8))
        exit(0)
    }

    private static func perform(_ number: Int, _ isForeign: Bool, _ confine: () throws(SystemFailure) -> Void) -> Never
    {
        // The kernel ends a call that never returns.
        _ = mz_limit_cpu(2)
        do throws(SystemFailure) { try confine() } catch { _exit(notConfined) }
        let result = mz_call(number, isForeign ? 1 : 0)
        _exit(result < 0 ? Int32(clamping: -result) : passed)
    }
}
