internal import Digest
internal import HTTP
internal import Images
internal import Posix
internal import Synchronization

/// Writes the body of one response into an anonymous file, hashing it as it arrives, within limit and budget.
///
/// - Concurrency: fed by the HTTP client's thread, then read by the fetch that awaited it.
final class BodyIntake: HTTPSink, @unchecked Sendable {
    /// Why the body was refused.
    enum Refusal {
        case tooLarge
        case noSpace(String)
    }

    let file: OpenFile
    /// Bytes of the body so far.
    private(set) var length = 0
    private(set) var refusal: Refusal?
    /// Why the rest of the body is useless.
    private(set) var unusable: RenderFailure?
    private let limit: Int
    /// Maximum length of the body: its declared length, if it has one.
    private var most: Int
    /// Length at which the body is nearly complete; nil: unknown, or already reached.
    private var nearly: Int?
    private let nearlyDone: @Sendable () -> Void
    private let lease: BodyLease
    private let look: StartLook?
    private let hash = SHA256()
    private var resume: @Sendable () -> Void = {}
    /// Bytes that are not in the file yet: a body in chunks of one byte would otherwise cost a write for each.
    private var small: [UInt8] = []
    private static let smallLimit = 16 << 10

    /// First share of a body, and the step by which its share grows. It is small, so that origins which send nothing do
    /// not block others.
    static let step = 64 << 10

    /// - Parameter nearlyDone: called once 90 % of a body of at least one step have arrived.
    init(
        limit: Int, lease: BodyLease, judge: StartLook.Judge? = nil, nearlyDone: @escaping @Sendable () -> Void = {}
    ) throws(SystemFailure) {
        (self.limit, most, self.lease, self.nearlyDone) = (limit, limit, lease, nearlyDone)
        look = judge.map { StartLook($0) }
        file = try OpenFile(anonymous: "source", lease: lease)
    }

    func begin(_ head: HTTPHead, resume: @escaping @Sendable () -> Void) -> HeadDecision {
        guard head.status == 200 || head.wholeRange != nil else { return .discard }
        self.resume = resume
        if let length = head.contentLength {
            if length > limit {
                refusal = .tooLarge
                return .end
            }
            most = length
            if length >= Self.step { nearly = length - length / 10 }
        }
        lease.begin()
        return .take
    }

    func receive(_ bytes: UnsafeRawBufferPointer) -> SinkDecision {
        switch look?.state {
        case .running: return .pause
        case .done(let failure?):
            unusable = failure
            return .discard
        default: break
        }
        let total = length + bytes.count
        if total > limit { return refuse(.tooLarge) }
        let share = lease.bytes
        if total > share, !lease.grow(to: max(total, min(most, share + Self.step)), granted: resume) {
            return .pause
        }
        do throws(SystemFailure) {
            let isSmall = bytes.count < Self.smallLimit / 4
            if !isSmall || small.count + bytes.count > Self.smallLimit { try flush() }
            if isSmall { small += bytes } else { try write(bytes) }
        } catch {
            return refuse(.noSpace(error.description))
        }
        length = total
        if let nearly, length >= nearly {
            self.nearly = nil
            nearlyDone()
        }
        look?.begin(file, at: file.length, of: most, resume: resume)
        return .take
    }

    /// Returns the digest of a complete body, and seals its file.
    func finish() throws(SystemFailure) -> SHA256Digest {
        try flush()
        file.seal()
        lease.settle(at: length)
        return hash.finish()
    }

    private func flush() throws(SystemFailure) {
        try small.withUnsafeBufferPointer { bytes throws(SystemFailure) in try write(UnsafeRawBufferPointer(bytes)) }
        small.removeAll(keepingCapacity: true)
    }

    private func write(_ bytes: UnsafeRawBufferPointer) throws(SystemFailure) {
        guard !bytes.isEmpty else { return }
        try file.append(bytes)
        hash.update(bytes)
    }

    private func refuse(_ why: Refusal) -> SinkDecision {
        refusal = why
        return .end
    }
}
