internal import Canonical
internal import JSONText
internal import VariantSpec

/// What jobs have in common that came last. Their lists of specs, by their text: jobs of many sources ask for the same few
/// variants, and to read those is a third of what it costs to read a job. And the servers of their URLs.
package struct RecentParts: Sendable {
    var servers = RecentServers()
    private var known: [(text: [UInt8], specs: [VariantSpec])] = []
    private var oldest = 0

    /// Each is compared with every job.
    private static let limit = 4
    static let textBytes = 1_024

    package init() {}

    /// The list that stands next, if it is one of these.
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
