import Foundation
import Glibc

extension Process {
    /// Blocks until it has ended: its exit status, or its signal.
    ///
    /// Asks the kernel. Foundation hears of an end through a socket, and its thread for sockets may lose that: three processes that had
    /// ended at once were waited for without end.
    func end() -> (status: Int32, isSignal: Bool) {
        var found = siginfo_t()
        while waitid(P_PID, id_t(processIdentifier), &found, WEXITED | WNOWAIT) != 0 {
            guard errno == EINTR else {
                // Foundation has asked before, so it knows.
                waitUntilExit()
                return (terminationStatus, terminationReason == .uncaughtSignal)
            }
        }
        return (found._sifields._sigchld.si_status, found.si_code != CLD_EXITED)
    }
}
