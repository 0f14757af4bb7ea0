internal import Canonical
internal import ImageModel
internal import Records
internal import VariantSpec

/// The sources and specs of all simulations: their canonical forms are the dear part, and made once.
struct Catalogue: Sendable {
    struct Source: Sendable {
        let url: SourceURL
        let key: SourceKey
        let partition: PartitionID
    }

    static let shared = Catalogue()
    let rules = CanonicalRules()
    let sources: [Source]
    let wishes: [[VariantSpec]]
    private let numbers: [SourceKey: Int]

    /// The source whose job has this key in the log, also in `parked`.
    func number(of key: [UInt8]) -> Int? {
        switch RecordKey(key) {
        case .job(let source), .parked(let source, _): numbers[source]
        default: nil
        }
    }

    private init() {
        let rules = rules
        do {
            sources = try (0..<Origins.sourceCount + PoisonJobs.count + Hopeless.count).map { number in
                let source = try rules.source(of: "http://h\(number % Origins.hostCount).test/\(number)")
                return Source(
                    url: SourceURL(source.fetchURL), key: source.key,
                    partition: source.key.partition(of: Cluster.partitionCount))
            }
            numbers = Dictionary(uniqueKeysWithValues: sources.enumerated().map { ($1.key, $0) })
            wishes = try [
                ["1280x0.jpeg"], ["640x0.jpeg"], ["1280x0.jpeg", "320x0.webp"], ["160y160.jpeg"],
                ["320x0.webp", "640x0.avif"],
            ].map { try $0.map { try rules.spec(of: $0) } }
        } catch {
            preconditionFailure("the catalogue of simulations is not canonical: \(error)")
        }
    }
}
