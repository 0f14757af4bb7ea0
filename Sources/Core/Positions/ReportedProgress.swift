package import Records

/// Topic progress that an owner writes into its progress rows. Each row replaces the one before, so none may omit a
/// known topic.
package struct ReportedProgress: Sendable {
    /// Progress that this owner last reported for each topic.
    private var last: [Topic: TopicProgress] = [:]
    /// Topics that an operator had set back when reading began.
    private var setBack = TopicSet()

    package init() {}

    /// Notes that reading of the topic began.
    package mutating func begin(_ topic: Topic, _ finding: StartingPoint.Finding) {
        if case .reset = finding { setBack.insert(topic) } else { setBack.remove(topic) }
    }

    /// - Parameters:
    ///   - inherited: progress that earlier owners left of the topic.
    ///   - isWhole: the row covers all outcomes, too. Otherwise the next owner finds some again. For a topic that was
    ///     set back they must not count, so the next owner must see that, too.
    ///   - current: nil if it is not known now.
    package mutating func tell(
        of topic: Topic, after inherited: TopicProgress?, isWhole: Bool, _ current: TopicProgress?
    ) -> TopicProgress? {
        if let current { last[topic] = current }
        guard setBack.contains(topic), !isWhole else { return last[topic] ?? inherited }
        return inherited.map { progress in
            var progress = progress
            progress.finished = []
            return progress
        }
    }

    /// Notes that the log has a row with this progress, so the setback is recorded.
    package mutating func wrote(_ topics: [Topic: TopicProgress]) {
        for topic in Topic.consumed where setBack.contains(topic) && topics[topic] == last[topic] {
            setBack.remove(topic)
        }
    }
}
