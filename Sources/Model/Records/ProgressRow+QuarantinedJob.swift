internal import JSONText

extension ProgressRow {
    /// A record that was in progress when an owner crashed, or is in progress now.
    package struct QuarantinedJob: Sendable, Hashable {
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
    mutating func quarantinedJob(_ quarantinedJob: ProgressRow.QuarantinedJob) {
        beginObject()
        field("topic", quarantinedJob.topic.rawValue)
        field("offset", quarantinedJob.offset)
        field("deaths", Int64(quarantinedJob.crashes))
        if let begun = quarantinedJob.begun { field("begun", begun.rawValue) }
        endObject()
    }
}

extension JSONReader {
    mutating func crashes() throws(JSONFailure) -> Int { Int(try integer(in: RecordLimits.attempts)) }

    /// Reads quarantined jobs, except those of topics that only a newer version knows.
    mutating func quarantined() throws(JSONFailure) -> [ProgressRow.QuarantinedJob] {
        var quarantined: [ProgressRow.QuarantinedJob] = []
        try openArray()
        while try nextElement() {
            if let quarantinedJob = try quarantinedJob() { quarantined.append(quarantinedJob) }
        }
        return quarantined
    }

    private mutating func quarantinedJob() throws(JSONFailure) -> ProgressRow.QuarantinedJob? {
        var (name, place, count): (String?, Int64?, Int?)
        var begun: ProgressRow.QuarantinedJob.Begun?
        try openObject()
        while let key = try nextKey() {
            switch key {
            case "topic": name = try string()
            case "offset": place = try logOffset()
            case "deaths": count = try crashes()
            // A newer version may have other values.
            case "begun": begun = ProgressRow.QuarantinedJob.Begun(rawValue: try string()) ?? .beside
            default: try skip()
            }
        }
        let (offset, crashes) = (try place.field("offset"), try count.field("deaths"))
        guard let topic = Topic(rawValue: try name.field("topic")), topic.hasJobs else { return nil }
        return ProgressRow.QuarantinedJob(topic, offset, crashes: crashes, begun: begun)
    }
}
