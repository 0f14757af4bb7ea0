internal import Canonical
package import Clocks
internal import Digest
internal import Failures
internal import ImageModel
package import Jobs
internal import Partition
package import Records
package import Telemetry

/// One attempt of a job as spans: the job itself, from its record's append to its outcome, and a child span for each
/// step.
///
/// Ids are derived from the job's id and its record's position. So they need no random numbers, all attempts of a job
/// that came without a `traceparent` are one trace, and a replay repeats its ids.
package struct JobTrace: Sendable {
    private let context: TraceContext
    private let id: String
    private let record: Record
    private let job: String

    /// nil if the job is not sampled: by its publisher's decision, or else by the share.
    package init?(_ record: Record, job: String, traceparent: String?, share: Double) {
        (self.record, self.job) = (record, job)
        if let given = traceparent.flatMap(TraceContext.init) {
            guard given.isSampled else { return nil }
            context = given
        } else {
            let trace = String(Self.digits(of: job).prefix(32))
            guard TraceContext.isSampled(trace, share: share) else { return nil }
            context = TraceContext(trace: trace, parent: nil, isSampled: true)
        }
        id = String(Self.digits(of: "\(job)/\(record.topic.rawValue)-\(record.partition)-\(record.offset)").prefix(16))
    }

    /// - Parameter now: the current time; the steps use its monotonic clock.
    package func spans(_ disposition: Disposition, steps: [Step], at now: Moment) -> [Span] {
        var attributes: [(name: String, value: Span.Value)] = [
            ("messaging.system", .string("kafka")),
            ("messaging.destination.name", .string(record.topic.rawValue)),
            ("messaging.destination.partition.id", .string("\(record.partition)")),
            ("messaging.kafka.offset", .int(record.offset)),
            ("mezzotint.job", .string(job)),
        ]
        var failure: String?
        switch disposition {
        case .outcome(let outcome), .refreshing(let outcome, _), .paid(let outcome), .changed(_, _, let outcome),
            .dead(_, let outcome):
            attributes += [
                ("mezzotint.outcome", .string(outcome.kind.rawValue)),
                ("mezzotint.lane", .string(outcome.lane.rawValue)),
                ("mezzotint.attempts", .int(Int64(outcome.attempts))),
                ("url.full", .string(outcome.url.shown.description)),
            ]
            if let cause = outcome.failure {
                attributes.append(("error.type", .string(cause.code)))
                failure = cause.message
            }
        case .park(let pending, _, let cause):
            attributes += [
                ("mezzotint.outcome", .string("retry")), ("mezzotint.lane", .string(pending.job.lane.rawValue)),
                ("mezzotint.attempts", .int(Int64(pending.attempts))), ("error.type", .string(cause.code)),
                ("url.full", .string(pending.job.url.shown.description)),
            ]
            failure = cause.message
        case .unpark, .move, .control: break
        case .rekey: attributes.append(("mezzotint.outcome", .string("rekey")))
        }
        // A producer's clock may be in the year 9999, which nanoseconds do not reach.
        let begin = min(record.timestamp, now.wall)
        func wall(_ time: Instant) -> Duration { now.wall - .epoch + (time - now.monotonic) }
        if let first = steps.first {
            let waited = (wall(first.begin) - (begin - .epoch)).milliseconds
            attributes.append(("mezzotint.waited_ms", .int(max(0, waited))))
        }
        let own = Span(
            trace: context.trace, id: id, parent: context.parent, name: "job", kind: .consumer, begin: begin - .epoch,
            end: now.wall - .epoch, attributes: attributes, failure: failure)
        return [own]
            + steps.enumerated().map { number, step in
                Span(
                    trace: context.trace, id: String(Self.digits(of: "\(id)/\(number)").prefix(16)), parent: id,
                    name: step.name.text, kind: step.name == .fetch ? .client : .internal,
                    begin: wall(step.begin), end: wall(step.end))
            }
    }

    /// Hexadecimal digest of a text. It is never all zero, which no id may be.
    private static func digits(of text: String) -> String { SHA256.digest(of: Array(text.utf8)).hex }
}

extension Step.Name {
    fileprivate var text: String {
        switch self {
        case .fetch: "fetch"
        case .render: "render"
        case .store: "store"
        case .announce: "announce"
        }
    }
}
