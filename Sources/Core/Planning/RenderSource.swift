package import Canonical
package import Clocks
package import Digest
package import ImageModel
package import VariantSpec

/// What a batch of variants is made from, and all that their rows inherit of it.
package struct RenderSource: Sendable, Hashable {
    package enum Input: Sendable, Hashable {
        /// The source's own bytes, as they were just fetched.
        case fetched
        /// The source's own bytes, as they were kept at this location.
        case original(SourceRow, at: String)
        case donor(VariantRow)
    }

    package let input: Input
    package let source: SourceKey
    package let version: SourceVersion
    package let sourceSize: PixelSize
    /// What crops lie around that name no place.
    package private(set) var regions: [KeptRegion]
    /// A derivative is fresh as long as the bytes that it was made from.
    package let expires: WallTime

    package var derivedFrom: Provenance { if case .donor(let row) = input { .donor(row.spec) } else { .origin } }
    /// A stored variant is to be decoded in full; the source's own bytes may be decoded at a part of their size.
    package var isDonor: Bool { if case .donor = input { true } else { false } }

    init(fetched row: SourceRow) { self.init(row, .fetched) }

    init(original row: SourceRow, at location: String) { self.init(row, .original(row, at: location)) }

    init(donor row: VariantRow, regions: [KeptRegion]) {
        (input, source, version, self.regions) = (.donor(row), row.source, row.version, regions)
        (sourceSize, expires) = (row.sourceSize, row.expires)
    }

    private init(_ row: SourceRow, _ input: Input) {
        (self.input, source, version, regions) = (input, row.source, row.version, row.regions)
        (sourceSize, expires) = (row.size, row.expires)
    }

    /// The same around what the kept original marks itself; nil where its row says that, and of all else.
    func around(_ regions: [KeptRegion]) -> RenderSource? {
        guard case .original(let row, at: _) = input, !row.isFocusKnown else { return nil }
        var source = self
        source.regions = regions
        return source
    }

    /// The row of a variant that was rendered and stored.
    package func row(
        of spec: VariantSpec, as rendition: Rendition, facts: SourceFacts?, bytes: Int, digest: SHA256Digest,
        location: String, at now: WallTime
    ) -> VariantRow {
        var facts = donorFacts ?? facts
        if !isDonor { facts?.isDrawing = rendition.isOfDrawing }
        var row = VariantRow(
            source: source, spec: spec, version: version, size: rendition.size, bytes: bytes, digest: digest,
            location: location, derivedFrom: derivedFrom, sourceSize: sourceSize, region: region(of: spec, rendition),
            hasAlpha: rendition.hasAlpha, storedAt: now, expires: expires, frames: rendition.frames,
            quality: rendition.quality, placeholder: rendition.placeholder, colour: rendition.colour,
            facts: facts)
        if case .original = input { row.isFromKept = true }
        return row
    }

    /// What of the source it shows: as planned, or as its pixels decided.
    private func region(of spec: VariantSpec, _ rendition: Rendition) -> Region {
        if case .donor(let row) = input { return spec.placement(asIn: row, around: regions).region }
        return rendition.crop ?? spec.placement(of: sourceSize, around: regions).region
    }

    /// A donor says of its source what was seen when it was made.
    private var donorFacts: SourceFacts? { if case .donor(let row) = input { row.facts } else { nil } }
}
