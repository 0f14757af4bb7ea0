package import Clocks
package import ImageModel
internal import JSONText

extension ProgressRow {
    /// Jobs that a partition's owner has parked, for tools and for the next owner.
    package struct Parked: Sendable, Hashable {
        /// Epoch of the owner in `parked`: rows of lower epochs do not count.
        package let epoch: Int64
        package let lanes: ByLane<Jobs>

        package init(epoch: Int64, lanes: ByLane<Jobs>) { (self.epoch, self.lanes) = (epoch, lanes) }

        /// Jobs of all lanes.
        package var jobs: Int64 { Lane.allCases.reduce(0) { $0 + lanes[$1].jobs } }
        /// Time at which the oldest of all was first seen; nil if there is none.
        package var oldest: WallTime? { Lane.allCases.compactMap { lanes[$0].oldest }.min() }

        package struct Jobs: Sendable, Hashable {
            package let jobs: Int64
            /// Time at which the oldest was first seen; nil if there is none.
            package let oldest: WallTime?

            package init(_ jobs: Int64, oldest: WallTime?) { (self.jobs, self.oldest) = (jobs, oldest) }

            package static let none = Jobs(0, oldest: nil)
        }
    }

    /// Parked jobs of all lanes.
    package var parkedCount: Int64 { parked?.jobs ?? 0 }
}

extension JSONWriter {
    mutating func parked(_ parked: ProgressRow.Parked) {
        key("parked")
        beginObject()
        field("epoch", parked.epoch)
        for lane in Lane.allCases where parked.lanes[lane].jobs > 0 {
            key(named: lane.rawValue)
            beginObject()
            field("jobs", parked.lanes[lane].jobs)
            if let oldest = parked.lanes[lane].oldest { field("oldest", oldest) }
            endObject()
        }
        endObject()
    }
}

extension JSONReader {
    mutating func parked() throws(JSONFailure) -> ProgressRow.Parked {
        var epoch: Int64?
        var lanes = ByLane<ProgressRow.Parked.Jobs> { _ in .none }
        try openObject()
        while let key = try nextKey() {
            if case "epoch" = key {
                epoch = try logOffset()
                continue
            }
            let name = key.text
            if let lane = Lane(rawValue: name) { lanes[lane] = try parkedJobs() } else { try skip() }
        }
        return ProgressRow.Parked(epoch: try epoch.field("epoch"), lanes: lanes)
    }

    private mutating func parkedJobs() throws(JSONFailure) -> ProgressRow.Parked.Jobs {
        var (jobs, oldest): (Int64?, WallTime?)
        try openObject()
        while let key = try nextKey() {
            switch key {
            case "jobs": jobs = try logOffset()
            case "oldest": oldest = try time()
            default: try skip()
            }
        }
        return ProgressRow.Parked.Jobs(try jobs.field("jobs"), oldest: oldest)
    }
}
