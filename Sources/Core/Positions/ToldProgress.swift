package import Records

/// What an owner's progress rows tell of its partition's topics: each row takes the place of the one before, so none leaves
/// out what is known.
package struct ToldProgress: Sendable {
    /// What this owner has told last of each.
    private var last: [Topic: TopicProgress] = [:]
    /// Topics that an operator had set back when they were begun.
    private var setBack = TopicSet()

    package init() {}

    /// Reading of the topic began.
    package mutating func begin(_ topic: Topic, _ finding: StartingPoint.Finding) {
        if case .reset = finding { setBack.insert(topic) } else { setBack.remove(topic) }
    }

    /// - Parameters:
    ///   - inherited: what earlier owners left of the topic.
    ///   - isWhole: the row tells of all answers, too. Otherwise the next owner finds some again, which must not count for a
    ///     topic that was set back: it is to see that, too.
    ///   - current: nil where it cannot be told now.
    package mutating func tell(
        of topic: Topic, after inherited: TopicProgress?, isWhole: Bool, _ current: TopicProgress?
    ) -> TopicProgress? {
        if let current { last[topic] = current }
        guard setBack.contains(topic), !isWhole else { return last[topic] ?? inherited }
        return inherited.map { progress in
            var progress = progress
            (progress.finished, progress.waits) = ([], [])
            return progress
        }
    }

    /// The log has a row with these: what was set back is told of.
    package mutating func wrote(_ topics: [Topic: TopicProgress]) {
        for topic in Topic.worked where setBack.contains(topic) && topics[topic] == last[topic] {
            setBack.remove(topic)
        }
    }
}
