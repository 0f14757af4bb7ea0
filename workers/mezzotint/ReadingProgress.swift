import CommandLine
internal import Clocks
import Posix
internal import Records

/// Reports the progress to a user who waits for longer than two seconds.
struct ReadingProgress {
    private static let interval: Duration = .seconds(2)
    private var topic = Topic.outcomes
    private var records: Int64 = 0
    private var next = SystemTime.monotonic + interval

    mutating func took(_ count: Int64, of topic: Topic) {
        if topic != self.topic { (self.topic, records) = (topic, 0) }
        records += count
        let now = SystemTime.monotonic
        guard now >= next else { return }
        next = now + Self.interval
        Console.complain("Reading \(topic.rawValue): \(records) records so far.")
    }
}
