package import ImageModel

/// Variants and sources of one partition: the fold of its changelog, disposable and restored.
///
/// - Concurrency: used by one owner, on the log's thread; calls block it for microseconds.
package protocol VariantIndex: AnyObject {
    /// The changelog offset that the next applied record follows: everything below it is in. nil in an empty index.
    var position: Int64? { get }

    /// All that is stored for a source, in one range read.
    func snapshot(of source: SourceKey) throws(IndexFailure) -> SourceSnapshot

    /// Applies changes and the position after them in one transaction.
    func apply(_ changes: [IndexChange], upTo position: Int64) throws(IndexFailure)

    /// Forgets everything: the changelog no longer holds what the position promises.
    func wipe() throws(IndexFailure)

    func close()
}

/// Opens the index of a partition; a damaged file is set aside, and an empty index returned with the reason.
package protocol VariantIndexes: Sendable {
    func open(_ partition: PartitionID) throws(IndexFailure) -> (index: any VariantIndex, rebuilt: String?)
}

/// Why an index could not be opened, read or written; nothing is lost by it, since the changelog has every row.
package enum IndexFailure: StageFailure, Hashable {
    case corrupt(path: String, reason: String)
    case unavailable(path: String, reason: String)

    package var code: String {
        switch self {
        case .corrupt: "index.corrupt"
        case .unavailable: "index.unavailable"
        }
    }

    package var description: String {
        switch self {
        case .corrupt(let path, let reason): "The index \(path) is damaged (\(reason)). It was set aside: start the worker again, which rebuilds it from the changelog."
        case .unavailable(let path, let reason): "The index \(path) cannot be used: \(reason). Check the data directory and its rights."
        }
    }

    package var verdict: Verdict { .wait }

    package static let catalogue = [
        CodeEntry("index.corrupt", "An index file is damaged; it is rebuilt from the changelog.", .wait),
        CodeEntry("index.unavailable", "An index file cannot be opened or written.", .wait),
    ]
}
