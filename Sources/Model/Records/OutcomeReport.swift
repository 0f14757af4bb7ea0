package import Canonical
package import Clocks
internal import Failures
package import ImageModel
internal import JSONText
package import VariantSpec

/// An outcome as readers decode it: the content of the event, without the rows that it was derived from.
package struct OutcomeReport: Sendable, Hashable {
    package struct Variant: Sendable, Hashable {
        package var spec: VariantSpec
        package var kind: OutcomeKind
        /// Path relative to the store's root. nil if the variant failed, like the next three fields.
        package var location: String?
        package var size: PixelSize?
        package var bytes: Int?
        package var derivedFrom: Provenance?
        package var isFromKept = false
        package var placeholder: [UInt8] = []
        package var colour: RGB?
        package var facts: SourceFacts?
        package var failure: Failure?
    }

    package struct Failure: Sendable, Hashable {
        package var code: String
        package var message: String
    }

    /// Attempts including the last one; nil if the outcome hides their number. 0 for a record that was not a job.
    package var allAttempts: Int? {
        let isHidden = kind == .expired || failure?.code == FailureNote.unreachableCode
        return isHidden ? nil : kind == .dead && source == nil ? 0 : attempts + 1
    }

    package var job: String
    package var source: SourceKey?
    package var url: String
    package var lane: Lane
    package var kind: OutcomeKind
    package var attempts: Int
    package var at: WallTime
    package var variants: [Variant]
    /// Number of variants that the outcome leaves out.
    package var omitted = 0
    package var failure: Failure?
    package var throttledBy: HostHold?
    /// Times that `dead replay` published the job again.
    package var replays = 0

    package init(_ record: Record) throws(RecordFailure) {
        guard let body = record.value else { throw .value(place: record.placeText, reason: "it is a tombstone") }
        do throws(JSONFailure) {
            self = try JSONReader.read(body) { (reader) throws(JSONFailure) -> OutcomeReport in try Self.read(&reader) }
        } catch {
            throw .value(place: record.placeText, reason: error.description)
        }
    }

    init(
        job: String, source: SourceKey?, url: String, lane: Lane, kind: OutcomeKind, attempts: Int, at: WallTime,
        variants: [Variant] = [], omitted: Int = 0, failure: Failure?
    ) {
        (self.job, self.source, self.url, self.lane, self.kind) = (job, source, url, lane, kind)
        (self.attempts, self.at, self.variants, self.omitted, self.failure) = (attempts, at, variants, omitted, failure)
    }

    private static func read(_ reader: inout JSONReader) throws(JSONFailure) -> OutcomeReport {
        var job: String?
        var source: SourceKey?
        var url: String?
        var lane: Lane?
        var kind: OutcomeKind?
        var attempts: Int?
        var at: WallTime?
        var variants: [Variant] = []
        var omitted = 0
        var failure: Failure?
        var throttledBy: HostHold?
        var replays = 0
        try reader.openObject()
        while let key = try reader.nextKey() {
            switch key {
            case "job": job = try reader.string()
            case "source": source = SourceKey(try reader.digest())
            case "url": url = try reader.string()
            case "lane": lane = try reader.value(Lane.names) { Lane(rawValue: $0) }
            case "kind": kind = try reader.kind()
            case "attempts": attempts = Int(try reader.integer(in: RecordLimits.attempts))
            case "replays": replays = Int(try reader.integer(in: RecordLimits.attempts))
            case "at": at = try reader.time()
            case "variants":
                try reader.openArray()
                while try reader.nextElement() { variants.append(try Variant.read(&reader)) }
            case "omitted": omitted = try reader.integer(in: 0...Int.max)
            case "failure": failure = try Failure.read(&reader)
            // A later version may write another word.
            // The second name: in outcomes of workers before 0.2.0.
            case "throttledBy", "heldBy": throttledBy = HostHold(rawValue: try reader.string())
            default: try reader.skip()
            }
        }
        var report = OutcomeReport(
            job: try job.field("job"), source: source, url: try url.field("url"), lane: try lane.field("lane"),
            kind: try kind.field("kind"), attempts: try attempts.field("attempts"), at: try at.field("at"),
            variants: variants, omitted: omitted, failure: failure)
        (report.throttledBy, report.replays) = (throttledBy, replays)
        return report
    }
}

extension OutcomeReport.Variant {
    fileprivate static func read(_ reader: inout JSONReader) throws(JSONFailure) -> Self {
        var fields = VariantFields()
        var spec: VariantSpec?
        var kind: OutcomeKind?
        var failure: OutcomeReport.Failure?
        try reader.openObject()
        while let key = try reader.nextKey() {
            switch key {
            case "spec": spec = try reader.spec()
            case "kind": kind = try reader.kind()
            case "failure": failure = try OutcomeReport.Failure.read(&reader)
            default: try fields.read(key, from: &reader)
            }
        }
        return Self(
            spec: try spec.field("spec"), kind: try kind.field("kind"), location: fields.location,
            size: fields.sizeIfKnown, bytes: fields.bytes, derivedFrom: fields.derivedFrom,
            isFromKept: fields.isFromKept,
            placeholder: fields.placeholder,
            colour: fields.colour, facts: fields.facts, failure: failure)
    }
}

extension OutcomeReport.Failure {
    static func read(_ reader: inout JSONReader) throws(JSONFailure) -> Self {
        var code: String?
        var message: String?
        try reader.openObject()
        while let key = try reader.nextKey() {
            switch key {
            case "code": code = try reader.string()
            case "message": message = try reader.string()
            default: try reader.skip()
            }
        }
        return Self(code: try code.field("code"), message: try message.field("message"))
    }
}

extension JSONReader {
    fileprivate mutating func kind() throws(JSONFailure) -> OutcomeKind {
        try value("an outcome's kind") { OutcomeKind(rawValue: $0) }
    }
}
