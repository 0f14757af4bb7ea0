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
    /// As long as the body can become: its declared length, if it has one.
    private var most: Int
    private let lease: BodyLease
    private let hash = SHA256()
    private var resume: @Sendable () -> Void = {}

    /// What a body enters the budget with, and by how much its share grows: so little that those who send nothing keep
    /// nobody out.
    static let step = 64 << 10

    init(limit: Int, lease: BodyLease) throws(SystemFailure) {
        (self.limit, most, self.lease) = (limit, limit, lease)
        file = try OpenFile(anonymous: "source", lease: lease)
    }

    func begin(_ head: HTTPHead, resume: @escaping @Sendable () -> Void) -> HeadAnswer {
        guard head.status == 200 else { return .discard }
        self.resume = resume
        if let length = head.contentLength {
            if length > limit {
                refusal = .tooLarge
                return .end
            }
            most = length
        }
        lease.begin()
        return .take
    }

    func receive(_ bytes: UnsafeRawBufferPointer) -> SinkAnswer {
        let length = file.length + bytes.count
        if length > limit { return refuse(.tooLarge) }
        let share = lease.bytes
        if length > share, !lease.grow(to: max(length, min(most, share + Self.step)), granted: resume) {
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
