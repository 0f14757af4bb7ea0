internal import Canonical
package import Clocks
package import ImageModel

extension DeadLetter {
    /// Replays of one letter's job that `dead replay` makes if nothing else is given.
    package static let usualReplays = 3

    /// Lane on which its job was published.
    package var lane: Lane { origin.topic.lane ?? .fast }

    /// Record that publishes the job again, on its lane: its bytes, id, trace, signature and first record, under the
    /// next replay count. Its source gives key and partition.
    ///
    /// - Parameter keys: keys of which one must have signed the job, if workers accept signed jobs alone.
    package func replay(
        by intake: Intake, signedBy keys: JobKeys?, partitions count: Int, at time: WallTime
    ) throws(JobFailure) -> NewRecord {
        var headers = EventHeader.event(EventHeader.jobRequested, id: id, at: time, traceparent: traceparent)
        headers.append(EventHeader.origin, origin.description)
        headers.append(replays: replays + 1)
        if let signature { headers.append(RecordHeader(EventHeader.signature, signature)) }
        // As a worker would read it: what a worker refuses would only become a dead letter again.
        let record = Record(
            topic: .jobs(lane), partition: origin.partition, offset: 0, timestamp: time, key: key, value: body,
            headers: headers)
        try keys?.check(record)
        let source = try intake.job(from: record).source
        return NewRecord(
            topic: record.topic, partition: source.partition(of: count), key: RecordKey.job(source).bytes, value: body,
            headers: headers)
    }
}
