import Clocks
internal import Foundation
internal import Posix
import TestSupport
internal import Testing

/// Every number, each in a child of its own behind the filter: what a renderer that a picture took over could try.
@Suite("System calls: all numbers of x86-64, in the real child", .timeLimit(.minutes(3)))
struct SystemCallTests {
    #if arch(x86_64)
        /// recvmsg, sendmsg, close, fstat, munmap, mremap, madvise, brk, futex, rt_sigprocmask, gettid, getpid, alarm,
        /// setitimer, getrandom, restart_syscall, mprotect and mmap with nothing asked.
        private static let common: Set = [47, 46, 3, 5, 11, 25, 28, 12, 202, 14, 186, 39, 37, 38, 318, 219, 10, 9]
        /// write, pwrite64, rt_sigaction, sigaltstack, set_robust_list, rseq, sched_getaffinity, sched_yield, sysinfo,
        /// clock_gettime and clock_nanosleep.
        private static let rendering: Set = [1, 18, 13, 131, 273, 334, 204, 24, 99, 228, 230]
        /// open, openat, access, faccessat, faccessat2, readlink, stat, statx, newfstatat and ioctl: EACCES.
        private static let refused: Set = [2, 257, 21, 269, 439, 89, 4, 332, 262, 16]
        /// exit_group, and exit where threads end; rt_sigreturn.
        private static let ends: Set = [231, 60, 15]

        @Test(
            "A call that is not listed ends the process, x32 and the 32-bit ABI among it; nothing that takes a path is let pass",
            arguments: ["mezzotint-renderer", "mezzotint-inspector"])
        func calls(program: String) throws {
            let (ours, theirs) = try PacketSocket.pair()
            let child = try ChildProcess(
                program: Built.program(program).path, arguments: ["check", "calls"], socket: theirs)
            let isTold = ours.waits(upTo: .minutes(2))
            if !isTold { child.kill() }
            #expect(child.reap() == .status(0))
            let told = try #require(isTold ? try ours.receive(limit: 64 << 10) : nil).bytes
            let lines = String(decoding: told, as: UTF8.self).split(separator: "\n")
            #expect(lines.count == 516)
            let isRenderer = program == "mezzotint-renderer"
            for line in lines {
                let words = line.split(separator: " ", maxSplits: 1).map(String.init)
                guard let number = Int(words[0]) else {
                    #expect(line.hasPrefix("i386 ") && line.hasSuffix(" killed"), "\(line)")
                    continue
                }
                let (says, isEnding) = (words[1], Self.ends.contains(number) && (isRenderer || number != 60))
                switch number {
                // uretprobe and uprobe: the kernel asks no filter; without a probe they do nothing.
                case 335, 336: #expect(says != "passed", "\(line)")
                case 435: #expect(says == "errno 38", "clone3: \(line)")
                case _ where Self.refused.contains(number): #expect(says == "errno 13", "\(line)")
                case _ where isEnding: #expect(says != "passed" && !says.hasPrefix("errno "), "\(line)")
                case _
                where Self.common.contains(number) || isRenderer && Self.rendering.contains(number)
                    || !isRenderer && number == 17:
                    #expect(says == "passed" || says.hasPrefix("errno "), "\(line)")
                default: #expect(says == "killed", "\(line)")
                }
            }
        }
    #endif

    private static let hasNamespaces: Bool = {
        let probe = Process()
        (probe.executableURL, probe.arguments) = (URL(filePath: "/usr/bin/unshare"), ["-U", "true"])
        probe.standardError = FileHandle.nullDevice
        guard (try? probe.run()) != nil else { return false }
        probe.waitUntilExit()
        return probe.terminationStatus == 0
    }()

    @Test(
        "A renderer that was taken over makes no thousand threads, where there are user namespaces",
        .enabled(if: hasNamespaces, "needs user namespaces"))
    func threads() throws {
        let (_, theirs) = try PacketSocket.pair()
        let child = try ChildProcess(
            program: Built.program("mezzotint-renderer").path, arguments: ["check", "threads"], socket: theirs)
        #expect(child.reap() == .status(0))
    }
}
