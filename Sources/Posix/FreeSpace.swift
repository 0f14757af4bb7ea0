internal import Synchronization

/// The free bytes of a folder's disk, as of the last look at it.
///
/// `statvfs` of a network disk whose server is away may never return, so nobody waits for it: each question starts the next
/// look, and gets the result of the one before.
///
/// - Concurrency: one look at a time, on a thread of its own that ends with it.
package final class FreeSpace: Sendable {
    private let measure: @Sendable () -> Int?
    private let state = Mutex<(last: Int?, isLooking: Bool)>((nil, false))

    package convenience init(of path: String) { self.init { FileSystem.freeBytes(of: path) } }

    package init(measure: @escaping @Sendable () -> Int?) {
        self.measure = measure
        look()
    }

    /// nil if it is not known.
    package var bytes: Int? {
        defer { look() }
        return state.withLock { $0.last }
    }

    private func look() {
        let isFirst = state.withLock { state in
            defer { state.isLooking = true }
            return !state.isLooking
        }
        guard isFirst else { return }
        OwnThread.start("free space") { [self] in
            let found = measure()
            state.withLock { $0 = (found, false) }
        }
    }
}
