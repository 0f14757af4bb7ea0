import Canonical
import Clocks
import Digest
import Failures
import ImageModel
import Images
internal import Jobs
import Ledger
internal import Partition
import Permits
import Planning
import Ports
import Posix
import Records
import VariantSpec

/// Where a test has one clock, both show the same.
extension Moment: ExpressibleByIntegerLiteral {
    package init(integerLiteral milliseconds: Int64) {
        self.init(wall: WallTime(milliseconds: milliseconds), monotonic: Instant(milliseconds: milliseconds))
    }

    init(_ time: WallTime) { self = 0 + (time - .epoch) }
    init(_ time: Instant) { self = 0 + (time - Instant(nanoseconds: 0)) }

    static func + (moment: Moment, time: Duration) -> Moment {
        Moment(wall: moment.wall + time, monotonic: moment.monotonic + time)
    }

    static func - (moment: Moment, time: Duration) -> Moment { moment + (.zero - time) }
    static func - (a: Moment, b: Moment) -> Duration { a.monotonic - b.monotonic }
    static func += (moment: inout Moment, time: Duration) { moment = moment + time }
}

extension WallTime {
    init(_ milliseconds: Int) { self.init(milliseconds: Int64(milliseconds)) }
}

extension Instant {
    init(_ milliseconds: Int) { self.init(milliseconds: Int64(milliseconds)) }
}

extension PermitScheduler {
    mutating func fail(_ flight: FlightID, at now: Moment) -> Bool { fail(flight, by: .machine, at: now) }
    mutating func pass(_ flight: FlightID) -> [Obstacle] { pass(flight, at: 0) }
}

/// A job as its row of `parked` has it.
struct ParkedDouble {
    let pending: PendingJob
    let parking: Parking
    let cause: FailureNote

    var share: ParkedShare { ParkedShare(parking.host, parking.worksAs) }

    /// The job as its owner starts it from the row.
    ///
    /// - Parameter crashes: crashes that the row reports; nil: those that its writer knew.
    func started(offset: Int64 = 0, crashes: Int? = nil) -> PendingJob {
        let own = pending.record
        let record = Record(
            topic: .parked, partition: own.partition, offset: offset, timestamp: pending.firstSeen,
            key: RecordKey.parked(pending.job.source, JobIdentity(of: own)).bytes, value: own.value, headers: own.headers)
        return PendingJob(
            job: pending.job, record: record, attempts: pending.attempts, firstSeen: pending.firstSeen,
            notBefore: pending.notBefore, heldSince: pending.heldSince, crashes: crashes ?? pending.crashes,
            failingSince: pending.failingSince, throttledBy: cause.hold, awaited: parking.host)
    }
}

extension Disposition {
    var parked: ParkedDouble? {
        guard case .park(let pending, let parking, let cause) = self else { return nil }
        return ParkedDouble(pending: pending, parking: parking, cause: cause)
    }
}

extension FetchedPicture {
    /// A picture of no bytes: rules look at its facts and its digest alone.
    init(
        _ bytes: [UInt8] = [], format: ImageFormat = .jpeg, size: PixelSize = PixelSize(width: 2_000, height: 1_000),
        hasAlpha: Bool = false, frames: Int = 1
    ) {
        let facts = PictureFacts(format: format, size: size, orientation: 1, frames: frames, hasAlpha: hasAlpha)
        self.init(
            source: FetchedSource(body: Self.file, digest: SHA256.digest(of: bytes)),
            picture: Picture(facts: facts, file: Self.file))
    }

    private static let file = try! OpenFile(anonymous: "rules")
}

extension RenderTask {
    var source: SourceRow? { fetched?.row }

    /// As the runtime makes them of what was stored.
    func rows(at now: WallTime, bytes: Int = 1, location: (VariantSpec) -> String = { _ in "x" }) -> [VariantRow] {
        (batch?.orders ?? []).compactMap { order in
            batch?.renderSource.row(
                of: order.spec, as: Rendition(size: order.output, hasAlpha: false, quality: 80), facts: nil,
                bytes: bytes,
                digest: SHA256.digest(of: []), location: location(order.spec), at: now)
        }
    }
}

extension SourceKey {
    /// One of many sources.
    static func numbered(_ number: Int) -> SourceKey { SourceKey(SHA256.digest(of: Array("source \(number)".utf8))) }
}
