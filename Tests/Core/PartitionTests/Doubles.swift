import Digest
import ImageModel
import Images
import Partition
import Planning
import Ports
import Posix
import Records
import VariantSpec

/// Where a test has one clock, both show the same.
extension Moment {
    init(_ time: Int64) { self.init(wall: time, monotonic: time) }
}

extension PermitScheduler {
    mutating func grants(at now: Int64) -> [Grant] { grants(at: Moment(now)) }
    mutating func fail(_ flight: FlightID, by obstacle: Obstacle = .machine, at now: Int64) -> Bool {
        fail(flight, by: obstacle, at: Moment(now))
    }
    mutating func pass(_ flight: FlightID) -> [Obstacle] { pass(flight, at: Moment(0)) }
}

extension PartitionState {
    mutating func reduce(_ event: PartitionEvent, at now: Int64, into effects: inout [PartitionEffect]) {
        reduce(event, at: Moment(now), into: &effects)
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
    func rows(at now: Int64, bytes: Int = 1, location: (VariantSpec) -> String = { _ in "x" }) -> [VariantRow] {
        (batch?.orders ?? []).compactMap { order in
            batch?.renderSource.row(
                of: order.spec, as: Rendition(size: order.output, hasAlpha: false, quality: 80), facts: nil,
                bytes: bytes,
                digest: SHA256.digest(of: []), location: location(order.spec), at: now)
        }
    }
}
