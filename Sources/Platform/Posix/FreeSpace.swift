internal import Clocks
internal import Synchronization

/// Free bytes of a folder's disk, from the last measurement.
///
/// `statvfs` of a network disk whose server is away may never return, so no caller waits for it. Each question starts
/// the next measurement, and gets the result of the one before. If a measurement hangs, the free bytes are unknown.
///
/// - Concurrency: one measurement at a time, on a thread of its own that ends with it.
package final class FreeSpace: Sendable {
    private let measure: @Sendable () -> Int?
    /// Time limit of a measurement.
    private let patience: Duration
    /// `begun`: start of the current measurement.
    private let state = Mutex<(last: Int?, begun: Instant?)>((nil, nil))

    package convenience init(of path: String) { self.init { FileSystem.freeBytes(of: path) } }

    package init(patience: Duration = .seconds(2), measure: @escaping @Sendable () -> Int?) {
        (self.patience, self.measure) = (patience, measure)
        look()
    }

    /// Free bytes; nil if unknown.
    package var bytes: Int? {
        defer { look() }
        let now = SystemTime.monotonic
        return state.withLock { state in now - (state.begun ?? now) > patience ? nil : state.last }
    }

    private func look() {
        let isFirst = state.withLock { state in
            if state.begun != nil { return false }
            state.begun = SystemTime.monotonic
            return true
        }
        guard isFirst else { return }
        OwnThread.start("free space") { [self] in
            let found = measure()
            state.withLock { $0 = (found, nil) }
        }
    }
}
