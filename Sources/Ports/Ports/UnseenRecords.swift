package import Records

/// Records of lanes and old retry topics that exist but cannot be read. A job that is not found may be one of them.
package struct UnseenRecords: Sendable, Hashable {
    /// Offsets that open transactions hide, by topic: records of any producer, and transaction markers.
    package let hidden: [Topic: Int64]
    /// Topics with records in partitions that no worker reads, or with such partitions that did not respond.
    package let added: [GrownTopic]

    package init(hidden: [Topic: Int64], added: [GrownTopic]) {
        self.hidden = hidden.filter { $0.value > 0 }
        self.added = added.filter { Topic.consumed.contains($0.topic) && $0.unread != 0 }
    }

    package var isEmpty: Bool { hidden.isEmpty && added.isEmpty }

    /// One sentence for each kind of records; empty if there are none.
    package var text: String {
        func counted(_ count: Int64) -> String { count == 1 ? "1 record" : "\(count) records" }
        let hidden = Topic.consumed.compactMap { topic in
            self.hidden[topic].map { "\(counted($0)) of \(topic.rawValue)" }
        }
        let added = self.added.map { topic in
            let records = topic.unread.map { counted($0) } ?? "records that could not be counted"
            return "\(topic.topic.rawValue) (\(records))"
        }
        var sentences: [String] = []
        if !hidden.isEmpty { sentences.append("An open transaction hides \(hidden.joined(separator: ", ")).") }
        if !added.isEmpty {
            sentences.append("Nobody reads the partitions that were added to \(added.joined(separator: ", ")).")
        }
        return sentences.joined(separator: " ")
    }
}

extension Log {
    /// Records that cannot be read in these partitions, and in all added ones. Partitions that do not respond are left
    /// out.
    package func unseenRecords(in partitions: [PartitionID]) async -> UnseenRecords {
        let points = Topic.consumed.flatMap { topic in partitions.map { LogPoint(topic, $0, nil) } }
        var hidden: [Topic: Int64] = [:]
        for result in await offsets(of: points) {
            guard let place = try? result.get() else { continue }
            hidden[place.topic, default: 0] += place.hidden
        }
        let grown: [GrownTopic]
        do throws(LogFailure) { grown = try await grownTopics() } catch { grown = [] }
        return UnseenRecords(hidden: hidden, added: grown)
    }
}
