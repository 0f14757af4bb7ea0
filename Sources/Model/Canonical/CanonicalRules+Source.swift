package import VariantSpec

extension CanonicalRules {
    /// What a received URL names. Applying it to a canonical URL changes nothing: N(N(u)) = N(u).
    package func source(of received: String) throws(CanonicalFailure) -> CanonicalSource {
        var recent = RecentServers()
        return try source(of: received, &recent)
    }

    /// - Parameter recent: of these rules.
    package func source(
        of received: String, _ recent: inout RecentServers
    ) throws(CanonicalFailure) -> CanonicalSource {
        var pass = CanonicalPass(Array(received.utf8), under: self, explaining: false)
        return try pass.run(asText: received, &recent)
    }

    /// The same for bytes that may be no text.
    package func source(of received: [UInt8]) throws(CanonicalFailure) -> CanonicalSource {
        var (pass, recent) = (CanonicalPass(received, under: self, explaining: false), RecentServers())
        return try pass.run(asText: nil, &recent)
    }

    /// The same with every rule that changed something, in the order applied.
    package func explain(_ received: String) throws(CanonicalFailure) -> (
        source: CanonicalSource, steps: [CanonicalStep]
    ) {
        var (pass, recent) = (CanonicalPass(Array(received.utf8), under: self, explaining: true), RecentServers())
        let source = try pass.run(asText: received, &recent)
        return (source, pass.steps)
    }

    /// A spec as a job writes it: exact, unless the rules say that specs go to tiers too.
    package func spec(of text: String) throws(CanonicalFailure) -> VariantSpec {
        do throws(SpecFailure) {
            let spec = try VariantSpec(text, defaults: defaultQualities)
            return specTiers ? tiers.fitting(spec) : spec
        } catch {
            throw .spec(error)
        }
    }
}
