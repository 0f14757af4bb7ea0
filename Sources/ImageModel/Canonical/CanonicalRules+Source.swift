extension CanonicalRules {
    /// What a received URL names. Applying it to a canonical URL changes nothing: N(N(u)) = N(u).
    package func source(of received: String) throws(CanonicalFailure) -> CanonicalSource {
        var pass = CanonicalPass(Array(received.utf8), under: self, explaining: false)
        return try pass.run(asText: received)
    }

    /// The same for bytes that may be no text.
    package func source(of received: [UInt8]) throws(CanonicalFailure) -> CanonicalSource {
        var pass = CanonicalPass(received, under: self, explaining: false)
        return try pass.run(asText: nil)
    }

    /// The same with every rule that changed something, in the order applied.
    package func explain(_ received: String) throws(CanonicalFailure) -> (source: CanonicalSource, steps: [CanonicalStep]) {
        var pass = CanonicalPass(Array(received.utf8), under: self, explaining: true)
        let source = try pass.run(asText: received)
        return (source, pass.steps)
    }

    /// A spec as a job writes it: exact, unless the rules say that specs go to tiers too.
    package func spec(of text: String) throws(CanonicalFailure) -> VariantSpec {
        let spec = try VariantSpec(text, defaultQuality: defaultQuality)
        return specTiers ? tiers.fitting(spec) : spec
    }
}

/// One URL on its way to its canonical form, part by part.
///
/// The received bytes are never changed; what is canonical grows in `out`. Steps are written only when explaining,
/// since intake does this for every job.
struct CanonicalPass {
    private let received: [UInt8]
    private let rules: CanonicalRules
    private let explaining: Bool
    private var out: [UInt8] = []
    private var group: HostAliasGroup?
    private(set) var steps: [CanonicalStep] = []

    init(_ received: [UInt8], under rules: CanonicalRules, explaining: Bool) {
        (self.received, self.rules, self.explaining) = (received, rules, explaining)
    }

    mutating func run(asText text: String?) throws(CanonicalFailure) -> CanonicalSource {
        do throws(URLFault) {
            let parts = try URLParts(received, limit: rules.urlByteLimit)
            if explaining, parts.end < received.count { note("fragment", received[parts.end...], []) }
            out.reserveCapacity(parts.end + 16)
            try appendOrigin(parts)
            let path = out.count
            try appendPath(parts)
            let fetched = try appendQuery(parts, path: out[path...])
            guard out.count <= rules.urlByteLimit else {
                throw .tooLong(bytes: out.count, limit: rules.urlByteLimit)
            }
            let isWhole = fetched.bytes == nil && parts.end == received.count
            let fetchURL = isWhole ? text : nil
            return CanonicalSource(
                fetchURL: fetchURL ?? String(decoding: fetched.bytes ?? Array(received[..<parts.end]), as: UTF8.self),
                canonical: out, aliasGroup: group?.id, variant: fetched.variant)
        } catch {
            throw .url(excerpt: Excerpt.url(received), error)
        }
    }

    private mutating func appendOrigin(_ parts: URLParts) throws(URLFault) {
        var scheme = parts.isHTTPS ? "https" : "http"
        var authority = try HostName.canonical(received[parts.host])
        let port = try parts.canonicalPort(received).map { Array(":\($0)".utf8) } ?? []
        if explaining {
            note("scheme", received[parts.scheme], Array(scheme.utf8)[...])
            note("host", received[parts.host], authority[...])
            if let written = parts.port { note("port", received[(written.lowerBound - 1)..<written.upperBound], port[...]) }
        }
        authority += port
        if let listed = rules.group(of: authority) {
            let group = listed.group
            self.group = group
            let before = "\(scheme)://".utf8 + authority
            if group.mergesSchemes { scheme = "https" }
            authority = listed.leader
            if explaining { note("alias group \(group.id)", before[...], ("\(scheme)://".utf8 + authority)[...]) }
        }
        out += scheme.utf8
        out += "://".utf8
        out += authority
    }

    private mutating func appendPath(_ parts: URLParts) throws(URLFault) {
        let start = out.count
        if parts.path.isEmpty {
            out.append(Byte.slash)
            if explaining { note("empty path", [], out[start...]) }
            return
        }
        try Escapes.appendCanonical(received, parts.path, to: &out)
        let escaped = explaining ? out[start...] : []
        if explaining { note("escapes", received[parts.path], escaped) }
        Escapes.removeDotSegments(&out, from: start)
        if explaining { note("dot segments", escaped, out[start...]) }
    }

    /// The bytes to fetch are nil where they are the received ones.
    private mutating func appendQuery(_ parts: URLParts, path: ArraySlice<UInt8>) throws(URLFault) -> (
        bytes: [UInt8]?, variant: VariantSpec?
    ) {
        guard let range = parts.query else { return (nil, nil) }
        let query = try URLQuery(received, range)
        if explaining { note("escapes", received[range], query.canonical[...]) }
        guard rules.understands(.imageView, in: group), query.mentionsImageView else {
            appendPairs(query, where: { _ in true })
            return (nil, nil)
        }
        var request = ImageViewRequest()
        for pair in query.pairs { try request.read(name: query.name(pair), value: query.value(pair)) }
        let asked = request.spec(path: path, defaultQuality: rules.defaultQuality)
        let variant = request.isExact ? asked : rules.tiers.fitting(asked)
        if explaining {
            let own = query.pairs.map { query.text($0) }.filter { ImageViewRequest.owns(pair: $0) }
            note("imageView", Array(own.joined(separator: [Byte.ampersand]))[...], Array(asked.description.utf8)[...])
            note("tiers", Array(asked.description.utf8)[...], Array(variant.description.utf8)[...])
        }
        let kept = { (pair: URLQuery.Pair) in !pair.canonical.isEmpty && !ImageViewRequest.owns(pair: query.text(pair)) }
        appendPairs(query, where: kept)
        var fetched = Array(received[..<(range.lowerBound - 1)])
        var mark = Byte.question
        for pair in query.pairs where kept(pair) {
            fetched.append(mark)
            fetched += received[pair.received]
            mark = Byte.ampersand
        }
        return (fetched, variant)
    }

    /// Parameters keep their order and repeats: to a plain URL's server both may mean something. An empty query
    /// keeps its `?` for the same reason; one that a rule emptied loses it.
    private mutating func appendPairs(_ query: URLQuery, where isKept: (URLQuery.Pair) -> Bool) {
        var mark = Byte.question
        for pair in query.pairs where isKept(pair) {
            if rules.isVolatile(query.name(pair), in: group) {
                if explaining { note("volatile parameter", query.text(pair), []) }
                continue
            }
            out.append(mark)
            out += query.text(pair)
            mark = Byte.ampersand
        }
    }

    private mutating func note(_ rule: String, _ before: ArraySlice<UInt8>, _ after: ArraySlice<UInt8>) {
        guard before != after else { return }
        steps.append(
            CanonicalStep(
                rule: rule, before: String(decoding: before, as: UTF8.self), after: String(decoding: after, as: UTF8.self)))
    }
}
