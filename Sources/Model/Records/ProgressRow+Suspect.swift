internal import JSONText

extension ProgressRow {
    /// A record that was in progress when an owner crashed, or is in progress now.
    package struct Suspect: Sendable, Hashable {
        package let topic: Topic
        package let offset: Int64
        /// Owners that crashed, or may have crashed, while it was in progress.
        package let crashes: Int
        /// nil if it is not in progress.
        package let begun: Begun?

        package init(_ topic: Topic, _ offset: Int64, crashes: Int, begun: Begun? = nil) {
            (self.topic, self.offset, self.crashes, self.begun) = (topic, offset, crashes, begun)
        }

        /// Whether other jobs of its worker are in progress at the same time.
        package enum Begun: String, Sendable {
            case beside, alone
        }
    }
}

extension JSONWriter {
    mutating func suspect(_ suspect: ProgressRow.Suspect) {
        beginObject()
        field("topic", suspect.topic.rawValue)
        field("offset", suspect.offset)
        field("deaths", Int64(suspect.crashes))
        if let begun = suspect.begun { field("begun", begun.rawValue) }
        endObject()
    }
}

extension JSONReader {
    mutating func crashes() throws(JSONFailure) -> Int { Int(try integer(in: RecordLimits.attempts)) }

    /// Reads suspects, except suspects of topics that only a newer version knows.
    mutating func suspects() throws(JSONFailure) -> [ProgressRow.Suspect] {
        var suspects: [ProgressRow.Suspect] = []
        try openArray()
        while try nextElement() {
            if let suspect = try suspect() { suspects.append(suspect) }
        }
        return suspects
    }

    private mutating func suspect() throws(JSONFailure) -> ProgressRow.Suspect? {
        var (name, place, count): (String?, Int64?, Int?)
        var begun: ProgressRow.Suspect.Begun?
        try openObject()
        while let key = try nextKey() {
            switch key {
            case "topic": name = try string()
            case "offset": place = try logOffset()
            case "deaths": count = try crashes()
            // A newer version may have other values.
            case "begun": begun = ProgressRow.Suspect.Begun(rawValue: try string()) ?? .beside
            default: try skip()
            }
        }
        let (offset, crashes) = (try place.field("offset"), try count.field("deaths"))
        guard let topic = Topic(rawValue: try name.field("topic")), topic.hasJobs else { return nil }
        return ProgressRow.Suspect(topic, offset, crashes: crashes, begun: begun)
    }
}
