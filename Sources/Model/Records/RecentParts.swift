internal import Canonical
internal import JSONText
internal import VariantSpec

/// Parts that recent jobs have in common: lists of specs, by their text, and the servers of URLs.
///
/// Jobs of many sources ask for the same few variants, and parsing those is a third of the cost of decoding a job.
package struct RecentParts: Sendable {
    var servers = RecentServers()
    private var known: [(text: [UInt8], specs: [VariantSpec])] = []
    private var oldest = 0

    /// Small, because each list is compared with every job.
    private static let limit = 4
    static let textBytes = 1_024

    package init() {}

    /// The list that the reader is about to read, if it is a recent one.
    func specs(in reader: inout JSONReader) -> [VariantSpec]? {
        for list in known where reader.take(again: list.text) { return list.specs }
        return nil
    }

    mutating func note(_ specs: [VariantSpec], _ text: [UInt8]) {
        guard known.count == Self.limit else { return known.append((text, specs)) }
        known[oldest] = (text, specs)
        oldest = (oldest + 1) % Self.limit
    }
}
