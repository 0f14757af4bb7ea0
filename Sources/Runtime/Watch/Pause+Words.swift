internal import Clocks
internal import ImageModel
internal import Records

extension Pause {
    /// `The slow lane is paused until 16:30 by ana@host (the disk is changed)`, without a stop.
    func words(at now: WallTime) -> String {
        let name = scope.description
        let subject = name.prefix(1).uppercased() + name.dropFirst()
        let verb = scope == .all ? "are" : "is"
        let author = by.map { " by \(Words.cut($0, 80))" } ?? ""
        return
            "\(Words.cut(subject, 110)) \(verb) paused until \(Words.clock(until, at: now))\(author)\(why.map { " (\(Words.cut($0, 120)))" } ?? "")"
    }

    /// Whether it may hold back some jobs of the lane.
    func holdsJobs(of lane: Lane) -> Bool { if case .lane(let own) = scope { own == lane } else { true } }
}
