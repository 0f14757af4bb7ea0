package import Foundation
internal import Glibc
internal import Synchronization

/// One of the built programs while it runs: signals can be sent, what it says on stderr waited for, and its end.
///
/// - Ownership: one that still runs when the value goes is ended.
package final class RunningProgram: Sendable {
    private struct State {
        var errors = ""
        var status: Int32?
        var listeners: [(text: String, count: Int, heard: CheckedContinuation<Void, Never>)] = []
        var pendingJobs: [CheckedContinuation<Void, Never>] = []
    }

    package let pid: Int32
    private let process: Process
    private let output: URL
    private let scratch: TemporaryFolder
    private let state: SharedState

    private final class SharedState: Sendable {
        let content = Mutex(State())
    }

    /// Starts a program in `folder`, with nothing of ours in its environment but `environment`.
    package init(
        _ program: String, _ words: [String], in folder: URL, environment: [String: String] = [:]
    ) throws {
        scratch = try TemporaryFolder()
        output = scratch.url.appending(path: "output")
        try Data().write(to: output)
        let process = Process()
        process.executableURL = Built.program(program)
        process.arguments = words
        process.currentDirectoryURL = folder
        process.environment = ["PATH": "/usr/bin:/bin", "TZ": "UTC"].merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        let outputHandle = try FileHandle(forWritingTo: output)
        // Foundation keeps what a process was given open, and fails at some thousand descriptors.
        defer { try? outputHandle.close() }
        process.standardOutput = outputHandle
        let errors = Pipe()
        process.standardError = errors
        let state = SharedState()
        let silence = DispatchSemaphore(value: 0)
        errors.fileHandleForReading.readabilityHandler = { handle in
            let data = handle.availableData
            if data.isEmpty {
                handle.readabilityHandler = nil
                silence.signal()
            } else {
                Self.hear(data, state)
            }
        }
        // Threads of the cooperative pool block signals, and a child would inherit that.
        var (none, before) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        try process.run()
        (self.process, self.state, pid) = (process, state, process.processIdentifier)
        Thread.detachNewThread {
            let end = process.end()
            // Its last words come before its end is told; a child of its own may hold the pipe a little longer.
            _ = silence.wait(timeout: .now() + 2)
            Self.end(end.status + (end.isSignal ? 128 : 0), state)
        }
    }

    deinit { if process.isRunning { kill(pid, SIGKILL) } }

    package func signal(_ number: Int32) { if state.content.withLock({ $0.status }) == nil { kill(pid, number) } }

    package var isRunning: Bool { state.content.withLock { $0.status == nil } }

    /// What it wrote to stdout so far.
    package var written: String { get throws { String(decoding: try Data(contentsOf: output), as: UTF8.self) } }

    /// What it said on stderr so far.
    package var errors: String { state.content.withLock { $0.errors } }

    /// Returns once it has said a text so many times, or has ended.
    package func says(_ text: String, times count: Int = 1) async {
        await withCheckedContinuation { continuation in
            let isHeard = state.content.withLock { state in
                if state.status != nil || state.errors.count(of: text) >= count { return true }
                state.listeners.append((text, count, continuation))
                return false
            }
            if isHeard { continuation.resume() }
        }
    }

    /// How it ended: its exit status, or 128 and the signal.
    package func ended() async throws -> Ended {
        await withCheckedContinuation { continuation in
            let isOver = state.content.withLock { state in
                if state.status == nil { state.pendingJobs.append(continuation) }
                return state.status != nil
            }
            if isOver { continuation.resume() }
        }
        return Ended(
            status: state.content.withLock { $0.status ?? -1 },
            output: try String(contentsOf: output, encoding: .utf8), errors: errors)
    }

    private static func hear(_ data: Data, _ state: SharedState) {
        let heard = state.content.withLock { state in
            state.errors += String(decoding: data, as: UTF8.self)
            let heard = state.listeners.filter { state.errors.count(of: $0.text) >= $0.count }.map(\.heard)
            state.listeners.removeAll { state.errors.count(of: $0.text) >= $0.count }
            return heard
        }
        heard.forEach { $0.resume() }
    }

    private static func end(_ status: Int32, _ state: SharedState) {
        let waiting = state.content.withLock { state in
            state.status = status
            defer { (state.pendingJobs, state.listeners) = ([], []) }
            return state.pendingJobs + state.listeners.map(\.heard)
        }
        waiting.forEach { $0.resume() }
    }
}

extension String {
    fileprivate func count(of text: String) -> Int { components(separatedBy: text).count - 1 }
}
