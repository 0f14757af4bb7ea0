package import VariantSpec

extension CanonicalRules {
    /// Source that a received URL names. Applied to a canonical URL, it changes nothing: N(N(u)) = N(u).
    package func source(of received: String) throws(CanonicalFailure) -> CanonicalSource {
        var recent = RecentServers()
        return try source(of: received, &recent)
    }

    /// - Parameter recent: servers that the same rules have canonicalised before.
    package func source(
        of received: String, _ recent: inout RecentServers
    ) throws(CanonicalFailure) -> CanonicalSource {
        var pass = CanonicalPass(Array(received.utf8), under: self, explaining: false)
        return try pass.run(asText: received, &recent)
    }

    /// The same for bytes that may not be text.
    package func source(of received: [UInt8]) throws(CanonicalFailure) -> CanonicalSource {
        var (pass, recent) = (CanonicalPass(received, under: self, explaining: false), RecentServers())
        return try pass.run(asText: nil, &recent)
    }

    /// The same with every rule that changed something, in the order in which they applied.
    package func explain(_ received: String) throws(CanonicalFailure) -> (
        source: CanonicalSource, steps: [CanonicalStep]
    ) {
        var (pass, recent) = (CanonicalPass(Array(received.utf8), under: self, explaining: true), RecentServers())
        let source = try pass.run(asText: received, &recent)
        return (source, pass.steps)
    }

    /// Parses a spec that a job writes. It stays exact unless the rules round job specs up to size steps too.
    package func spec(of text: String) throws(CanonicalFailure) -> VariantSpec {
        do throws(SpecFailure) {
            let spec = try VariantSpec(text, defaults: defaultQualities)
            return roundSizes ? sizeSteps.fitting(spec) : spec
        } catch {
            throw .spec(error)
        }
    }
}
