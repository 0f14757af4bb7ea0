package import Clocks
package import Failures
internal import JSONText

/// Result of a control in one partition: a record of `outcomes`, once the control applies to no further job there.
package struct ControlOutcome: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The control was applied to `jobs` jobs. A pause is active until `until`; a resume has ended a pause.
        case applied
        /// No job that the control names was waiting or running. A pause was over when it was read; a resume ended no pause.
        case unknown
        case refused

        /// Explanation on the reference page.
        package var meaning: String {
            switch self {
            case .applied: "The control was applied to `jobs` jobs. A pause is active until `until`; a resume has ended a pause."
            case .unknown: "No job that the control names was waiting or running. A pause was over when it was read; a resume ended no pause."
            case .refused: "The control changed nothing; the code states why."
            }
        }
    }

    /// Id of the control.
    package var control: String
    /// The verb; nil if the control could not be read.
    package var verb: Control.Verb?
    /// The jobs that it named; nil if the control could not be read. Kept here, because the embedded log deletes finished
    /// controls.
    package var named: ControlSubject?
    package var kind: Kind
    /// Jobs of the partition that the control ended or moved.
    package var jobs: Int
    package var failure: FailureNote?
    package var by: String?
    package var why: String?
    /// Time at which the control was written; nil if its publisher does not state one.
    package var requested: WallTime?
    /// End of a pause; nil for other controls.
    package var until: WallTime?
    package var at: WallTime

    package init(
        control: String, verb: Control.Verb?, named: ControlSubject? = nil, kind: Kind, jobs: Int = 0,
        failure: FailureNote? = nil, by: String? = nil, why: String? = nil, requested: WallTime? = nil, until: WallTime? = nil, at: WallTime
    ) {
        (self.control, self.verb, self.named, self.kind, self.jobs) = (control, verb, named, kind, jobs)
        (self.failure, self.by, self.why, self.requested, self.at) = (failure, by, why, requested, at)
        self.until = until
    }

    /// Outcome of an applied control.
    package init(of control: Control, jobs: Int, at time: WallTime) {
        self.init(
            control: control.id, verb: control.verb, named: ControlSubject(control.scope),
            kind: jobs > 0 ? .applied : .unknown, jobs: jobs, by: control.by, why: control.why, requested: control.at,
            until: control.until, at: time)
    }

    /// Outcome of a pause or a resume, once a durable row has its effect.
    package init(of control: Control, isApplied: Bool, at time: WallTime) {
        self.init(of: control, jobs: 0, at: time)
        kind = isApplied ? .applied : .unknown
    }

    /// Outcome of a control that changes nothing.
    package init(refusing control: Control, _ failure: ControlFailure, at time: WallTime) {
        self.init(of: control, jobs: 0, at: time)
        (kind, self.failure) = (.refused, FailureNote(failure))
    }

    package func newRecord(partition: PartitionID, key: [UInt8]) -> NewRecord {
        var json = JSONWriter(reserving: 256)
        json.beginObject()
        json.field("control", control)
        if let verb { json.field("verb", verb.rawValue) }
        json.field("partition", partition.number)
        json.field("kind", kind.rawValue)
        json.field("jobs", jobs)
        if let by { json.field("by", by) }
        if let why { json.field("why", why) }
        json.field("at", at)
        if let named {
            json.key("named")
            named.write(to: &json)
        }
        if let requested { json.field("requested", requested) }
        if let until { json.field("until", until) }
        if let failure { json.failure(failure) }
        json.endObject()
        return NewRecord(
            topic: .outcomes, partition: partition, key: key, value: json.bytes,
            headers: EventHeader.event(
                EventHeader.controlFinished, id: "\(control)/control/\(partition)", at: at, traceparent: nil))
    }
}

extension ControlOutcome {
    /// Decodes a record of `outcomes`. nil: it is of a job.
    package init?(_ record: Record) throws(RecordFailure) {
        guard record.isOfControl else { return nil }
        guard let body = record.value else { throw .value(place: record.placeText, reason: "it is a tombstone") }
        do throws(JSONFailure) {
            self = try JSONReader.read(body) { (reader) throws(JSONFailure) -> ControlOutcome in try Self.read(&reader) }
        } catch {
            throw .value(place: record.placeText, reason: error.description)
        }
    }

    private static func read(_ reader: inout JSONReader) throws(JSONFailure) -> ControlOutcome {
        var (control, by, why): (String?, String?, String?) = (nil, nil, nil)
        var (verb, kind): (Control.Verb?, Kind?) = (nil, nil)
        var (named, failure): (ControlSubject?, FailureNote?) = (nil, nil)
        var (jobs, requested, until, at): (Int?, WallTime?, WallTime?, WallTime?) = (nil, nil, nil, nil)
        try reader.openObject()
        while let key = try reader.nextKey() {
            switch key {
            case "control": control = try reader.string()
            // A later version may write another word.
            case "verb": verb = Control.Verb(rawValue: try reader.string())
            case "named": named = try ControlSubject.read(&reader)
            case "kind": kind = try reader.value("a control outcome's kind") { Kind(rawValue: $0) }
            case "jobs": jobs = try reader.integer(in: 0...Int.max)
            case "by": by = try reader.string()
            case "why": why = try reader.string()
            case "requested": requested = try reader.time()
            case "until": until = try reader.time()
            case "at": at = try reader.time()
            case "failure":
                let read = try OutcomeReport.Failure.read(&reader)
                failure = FailureNote(code: read.code, message: read.message, verdict: .fail)
            default: try reader.skip()
            }
        }
        return ControlOutcome(
            control: try control.field("control"), verb: verb, named: named, kind: try kind.field("kind"),
            jobs: try jobs.field("jobs"), failure: failure, by: by, why: why, requested: requested,
            until: until, at: try at.field("at"))
    }
}

extension Record {
    /// Whether the record of `outcomes` is of a control, and not of a job.
    package var isOfControl: Bool { headers[EventHeader.type] == EventHeader.controlFinished[EventHeader.type] }
}
