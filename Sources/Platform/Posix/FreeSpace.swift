internal import Clocks
internal import Synchronization

/// The free bytes of a folder's disk, as of the last look at it.
///
/// `statvfs` of a network disk whose server is away may never return, so nobody waits for it: each question starts the next
/// look, and gets the result of the one before. If a look hangs, the free bytes are not known.
///
/// - Concurrency: one look at a time, on a thread of its own that ends with it.
package final class FreeSpace: Sendable {
    private let measure: @Sendable () -> Int?
    /// How long a look may take.
    private let patience: Duration
    /// `begun`: when the look that is under way began.
    private let state = Mutex<(last: Int?, begun: Instant?)>((nil, nil))

    package convenience init(of path: String) { self.init { FileSystem.freeBytes(of: path) } }

    package init(patience: Duration = .seconds(2), measure: @escaping @Sendable () -> Int?) {
        (self.patience, self.measure) = (patience, measure)
        look()
    }

    /// nil if it is not known.
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
