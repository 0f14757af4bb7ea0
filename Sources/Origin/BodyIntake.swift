internal import Digest
internal import HTTP
internal import Posix
internal import Synchronization

/// Takes the body of one answer into an anonymous file, hashing it as it comes, within limit and budget.
///
/// - Concurrency: fed by the HTTP client's thread, then read by the fetch that awaited it.
final class BodyIntake: HTTPSink, @unchecked Sendable {
    /// Why the body was not taken.
    enum Refusal {
        case tooLarge
        case noSpace(String)
    }

    let file: OpenFile
    private(set) var refusal: Refusal?
    private let limit: Int
    private let lease: BodyLease
    private let hash = SHA256()
    private var resume: @Sendable () -> Void = {}

    /// What a body enters the budget with: nine pictures in ten are smaller.
    static let firstShare = 1 << 20

    init(limit: Int, lease: BodyLease) throws(SystemFailure) {
        (self.limit, self.lease) = (limit, lease)
        file = try OpenFile(anonymous: "source", lease: lease)
    }

    func begin(_ head: HTTPHead, resume: @escaping @Sendable () -> Void) -> SinkAnswer {
        guard head.status == 200 else { return .discard }
        self.resume = resume
        guard let length = head.contentLength else { return .take }
        if length > limit { return refuse(.tooLarge) }
        return lease.grow(to: length, granted: resume) ? .take : .pause
    }

    func receive(_ bytes: UnsafeRawBufferPointer) -> SinkAnswer {
        let length = file.length + bytes.count
        if length > limit { return refuse(.tooLarge) }
        // Without a declared length the share doubles, so that a body asks seldom.
        if length > lease.bytes, !lease.grow(to: min(limit, max(length, 2 * lease.bytes)), granted: resume) {
            return .pause
        }
        do {
            try file.append(bytes)
        } catch {
            return refuse(.noSpace(error.description))
        }
        hash.update(bytes)
        return .take
    }

    /// The digest of a whole body, whose file does not change any more.
    func finish() -> SHA256Digest {
        file.seal()
        lease.settle(at: file.length)
        return hash.finish()
    }

    private func refuse(_ why: Refusal) -> SinkAnswer {
        refusal = why
        return .end
    }
}
