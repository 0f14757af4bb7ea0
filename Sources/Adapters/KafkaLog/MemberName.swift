/// The client id of a group's member: a worker's name, and how many partitions of each topic the worker uses.
///
/// The coordinator shows it to every program that asks, from joining until the session ends. So a worker that owns no
/// partition, or has written no record yet, publishes its number, and a killed one does until its session ends.
struct MemberName: Equatable {
    let worker: String
    /// nil: the member is another program, or a worker of another version.
    let partitions: Int?

    init(_ worker: String, partitions: Int) { (self.worker, self.partitions) = (worker, partitions) }

    init(clientID: String) {
        guard let mark = clientID.ranges(of: Self.mark).last, let partitions = Int(clientID[mark.upperBound...]),
            partitions > 0
        else {
            (worker, partitions) = (clientID, nil)
            return
        }
        (worker, self.partitions) = (String(clientID[..<mark.lowerBound]), partitions)
    }

    var clientID: String { partitions.map { worker + Self.mark + "\($0)" } ?? worker }

    private static let mark = ".partitions-"
}
