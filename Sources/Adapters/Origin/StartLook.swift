internal import Images
internal import Posix
internal import Synchronization

/// A look at the first bytes of a large body while the rest of it waits: what they say may make the rest useless.
///
/// - Concurrency: asked on the HTTP client's thread, answered by a task of its own.
/// - Failure: a look that can't be had changes nothing, since the whole body is inspected anyway.
final class StartLook: Sendable {
    typealias Judge = @Sendable (OpenFile) async -> RenderFailure?

    /// Cameras write 100 KiB of metadata before a picture's size.
    static let bytes = 256 << 10
    /// Of a smaller body too little would be saved.
    static let leastBody = 1 << 20

    enum State {
        case ahead
        case running
        case done(RenderFailure?)
    }

    private let judge: Judge
    private let now = Mutex(State.ahead)

    init(_ judge: @escaping Judge) { self.judge = judge }

    var state: State { now.withLock { $0 } }

    /// Begins it if a body that may become `most` bytes long has come as far as that; `resume` is called once it is over.
    func begin(_ file: OpenFile, at length: Int, of most: Int, resume: @escaping @Sendable () -> Void) {
        guard length >= Self.bytes, most >= Self.leastBody, case .ahead = state else { return }
        // An inspector never gets a file that is still written: it might write to it, too.
        guard let start = try? OpenFile(anonymous: "start"),
            let bytes = try? file.bytes(at: 0, count: Self.bytes), (try? start.append(bytes)) != nil
        else {
            now.withLock { $0 = .done(nil) }
            return
        }
        now.withLock { $0 = .running }
        // The client's thread waits for nobody, and a transfer that ends meanwhile leaves the answer to no one.
        Task {
            let refusal = await judge(start)
            now.withLock { $0 = .done(refusal) }
            resume()
        }
    }
}
