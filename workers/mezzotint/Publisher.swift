internal import Canonical
import CommandLine
internal import ImageModel
internal import JSONText
import Ports
import Posix
internal import Records
internal import VariantSpec

/// Accepts jobs as people write them, one by one, and appends the valid ones in batches.
///
/// An invalid job is reported with its position, and the others are still published.
struct Publisher {
    private let log: any Log
    private let intake: Intake
    private let keys: JobKeys?
    private let lane: Lane
    private let variants: [VariantSpec]
    private let idStem = String(UInt64.random(in: 1 << 60 ... .max), radix: 16)
    private var taken = 0
    private var batch: [NewRecord] = []
    /// Positions of its jobs in the input.
    private var places: [String] = []
    private var ids: [String] = []
    /// Receives the id of each durable job, in the order of the lines.
    private let published: (String) -> Void
    private(set) var accepted = 0
    private(set) var rejected = 0
    /// Number of unprinted jobs in `rejected`: binary input has thousands of lines.
    private(set) var unprinted = 0

    init(
        _ log: any Log, _ rules: CanonicalRules, _ keys: JobKeys?, lane: Lane, variants: [VariantSpec],
        published: @escaping (String) -> Void = { _ in }
    ) {
        (self.log, intake, self.keys, self.lane, self.variants) = (log, Intake(rules: rules), keys, lane, variants)
        self.published = published
    }

    /// - Returns: the id of its job; nil if there is none.
    @discardableResult
    mutating func take(_ line: LineSplitter.Line, at place: String) -> String? {
        do throws(JobFailure) {
            guard let job = try job(of: line) else { return nil }
            let record = job.newRecord(partitions: log.partitionCount, at: SystemTime.wall, signedBy: keys)
            if let bytes = record.value?.count, bytes > RecordLimits.jobBytes { throw .tooLarge(bytes: bytes) }
            batch.append(record)
            places.append(place)
            ids.append(job.id)
            return job.id
        } catch {
            rejected += 1
            if rejected <= Self.printedRefusals || accepted + batch.count > 0 {
                Console.complain("\(place): \(error) (\(error.code))")
            } else {
                unprinted += 1
            }
            return nil
        }
    }

    /// Most refusals printed before the first valid job. After one, each refusal is printed.
    private static let printedRefusals = 20

    /// Appends the batch; returns when it is durable.
    mutating func flush() async throws {
        guard !batch.isEmpty else { return }
        // A job that arrives twice gets its outcome under one id.
        let results = await log.appendRepeating(batch)
        defer { places.removeAll(keepingCapacity: true) }
        batch.removeAll(keepingCapacity: true)
        for (id, result) in zip(ids, results) where result.failure == nil { published(id) }
        ids.removeAll(keepingCapacity: true)
        let failures = results.compactMap(\.failure)
        accepted += results.count - failures.count
        rejected += failures.count
        guard let failed = results.firstIndex(where: { $0.failure != nil }), let failure = failures.first else {
            return
        }
        let others = results[failed...].count { $0.failure == nil }
        Console.complain(
            "Nothing is published from \(places[failed]) on\(others == 0 ? "" : ", but for \(others) of the next jobs"). Publish it again once the following problem is fixed."
        )
        throw failure
    }

    /// Whether the bytes are a number, `true`, `false` or `null`, which no URL resembles.
    private static func isJSON(_ bytes: [UInt8]) -> Bool {
        (try? JSONReader.read(bytes) { (reader) throws(JSONFailure) in try reader.skip() }) != nil
    }

    /// Parses a line; nil if it is empty.
    private mutating func job(of line: LineSplitter.Line) throws(JobFailure) -> Job? {
        switch line {
        case .tooLong(let bytes): throw .tooLarge(bytes: bytes)
        case .text(let bytes):
            // A single zero byte is the second half of the last line end in UTF-16.
            guard let first = bytes.first, bytes != [0] else { return nil }
            if let failure = JobFailure(otherForm: bytes) { throw failure }
            taken += 1
            let id = "\(idStem)-\(taken)"
            if "{[\"".utf8.contains(first) || Self.isJSON(bytes) {
                return try intake.job(line: bytes, id: id, lane: lane, variants: variants)
            }
            // Repairing invalid UTF-8 would publish another URL than the given one.
            guard let url = String(validating: bytes, as: UTF8.self) else {
                throw .badValue(reason: "the line is not UTF-8")
            }
            return try intake.job(url: url, variants: variants, id: id, lane: lane)
        }
    }
}
