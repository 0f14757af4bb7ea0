internal import VariantSpec

/// One pass over a URL that builds its canonical form, part by part.
///
/// The received bytes are never changed; the canonical form grows in `out`. Steps are recorded only for an explanation,
/// because intake runs a pass for every job.
struct CanonicalPass {
    private let received: [UInt8]
    private let rules: CanonicalRules
    private let explaining: Bool
    private var out: [UInt8] = []
    private var host: [UInt8] = []
    private var group: HostAliasGroup?
    private var originGroup: String?
    private(set) var steps: [CanonicalStep] = []

    init(_ received: [UInt8], under rules: CanonicalRules, explaining: Bool) {
        (self.received, self.rules, self.explaining) = (received, rules, explaining)
    }

    /// - Parameter recent: servers that the same rules have canonicalised before.
    mutating func run(
        asText text: String?, _ recent: inout RecentServers
    ) throws(CanonicalFailure) -> CanonicalSource {
        do throws(URLFault) {
            let parts = try URLParts(received, limit: rules.urlByteLimit)
            if explaining, parts.end < received.count { note("fragment", received[parts.end...], []) }
            try appendServer(parts, &recent)
            let path = out.count
            try appendPath(parts)
            let query = try self.query(parts)
            let request = try self.request(path: path, query)
            // Computed before the dialect's part is removed from the path.
            let fetched = request.map { self.fetched($0, parts, path: path, query) }
            if let own = request?.path { out.removeSubrange(own) }
            if let query { appendPairs(query, except: request?.pairs ?? []) }
            guard out.count <= rules.urlByteLimit else {
                throw .tooLong(bytes: out.count, limit: rules.urlByteLimit)
            }
            if request != nil { try refuseSecond(path: path) }
            return CanonicalSource(
                fetchURL: fetchURL(parts, fetched, text), canonical: out, aliasGroup: group?.id,
                originGroup: originGroup,
                variant: request.map { $0.isExact ? $0.spec : rules.sizeSteps.fitting($0.spec) })
        } catch {
            throw .url(excerpt: Excerpt.url(received, hiding: rules.hidden), error)
        }
    }

    /// URL to fetch: the received bytes, except that an international host becomes A-labels, because libcurl converts
    /// it only in some locales.
    private func fetchURL(_ parts: URLParts, _ fetched: [UInt8]?, _ text: String?) -> String {
        let isInternational = received[parts.host].contains { $0 >= 0x80 }
        if !isInternational, fetched == nil, parts.end == received.count, let text { return text }
        var bytes = fetched ?? Array(received[..<parts.end])
        if isInternational { bytes.replaceSubrange(parts.host, with: host) }
        return String(decoding: bytes, as: UTF8.self)
    }

    private mutating func appendServer(_ parts: URLParts, _ recent: inout RecentServers) throws(URLFault) {
        let server = received[..<parts.path.lowerBound]
        if !explaining, let known = recent.server(of: server) {
            (out, host, group, originGroup) = (known.canonical, known.host, known.group, known.originGroup)
            out.reserveCapacity(parts.end + 16)
            return
        }
        try appendOrigin(parts)
        recent.note(
            RecentServers.Server(
                received: Array(server), canonical: out, host: host, group: group, originGroup: originGroup))
    }

    private mutating func appendOrigin(_ parts: URLParts) throws(URLFault) {
        var scheme = parts.isHTTPS ? "https" : "http"
        host = try HostName.canonical(received[parts.host])
        let port = try parts.canonicalPort(received).map { Array(":\($0)".utf8) } ?? []
        if explaining {
            note("scheme", received[parts.scheme], Array(scheme.utf8)[...])
            note("host", received[parts.host], host[...])
            if let written = parts.port {
                note("port", received[(written.lowerBound - 1)..<written.upperBound], port[...])
            }
        }
        var authority = host + port
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
        if !rules.originGroups.isEmpty {
            let origin = OriginHost(of: String(decoding: out, as: UTF8.self))
            originGroup = rules.originGroups.first { $0.has(origin.name) }.flatMap { $0.hasHeaders ? $0.name : nil }
        }
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

    private mutating func query(_ parts: URLParts) throws(URLFault) -> URLQuery? {
        guard let range = parts.query else { return nil }
        let query = try URLQuery(received, range)
        if explaining { note("escapes", received[range], query.canonical[...]) }
        return query
    }

    /// Variant that the URL asks for if a dialect reads it; else nil.
    private mutating func request(path: Int, _ query: URLQuery?) throws(URLFault) -> DialectRequest? {
        let url = DialectURL(path: out[path...], query: query, defaults: rules.defaultQualities)
        for dialect in rules.dialects(in: group) {
            guard let request = try dialect.request(in: url) else { continue }
            if explaining { explain(request, of: dialect, query) }
            return request
        }
        return nil
    }

    /// Refuses a URL whose remaining parts ask for a variant again, in any dialect. Otherwise N(N(u)) would differ from
    /// N(u), and it is unclear which of the two requests is meant.
    private func refuseSecond(path: Int) throws(URLFault) {
        let mark = out[path...].firstIndex(of: Byte.question)
        var query: URLQuery?
        if let mark { query = try URLQuery(out, mark + 1..<out.endIndex) }
        let left = DialectURL(
            path: out[path..<(mark ?? out.endIndex)], query: query, defaults: rules.defaultQualities)
        for dialect in rules.dialects(in: group) where try dialect.request(in: left) != nil {
            throw .unsupported("a URL that asks for a variant twice", instead: "Ask for one.")
        }
    }

    private mutating func explain(_ request: DialectRequest, of dialect: URLDialect, _ query: URLQuery?) {
        let pairs = query.map { query in request.pairs.sorted().map { query.text(query.pairs[$0]) } } ?? []
        let own = ([request.path.map { out[$0] } ?? []] + pairs).filter { !$0.isEmpty }
        let asked = Array(request.spec.description.utf8)
        note(dialect.rawValue, Array(own.joined(separator: [Byte.ampersand]))[...], asked[...])
        if !request.isExact {
            note("size steps", asked[...], Array(rules.sizeSteps.fitting(request.spec).description.utf8)[...])
        }
    }

    /// The received bytes without the dialect's own parts. A path that loses a part is fetched in canonical form.
    private func fetched(
        _ request: DialectRequest, _ parts: URLParts, path: Int, _ query: URLQuery?
    ) -> [UInt8] {
        var bytes = Array(received[..<parts.path.lowerBound])
        if let own = request.path {
            bytes += out[path..<own.lowerBound] + out[own.upperBound...]
        } else {
            bytes += received[parts.path]
        }
        var mark = Byte.question
        for (place, pair) in (query?.pairs ?? []).enumerated() where !request.pairs.contains(place) {
            bytes.append(mark)
            bytes += received[pair.received]
            mark = Byte.ampersand
        }
        return bytes
    }

    /// Appends the remaining parameters in their order, repeats included, because both may mean something to a plain
    /// server. For the same reason an empty query keeps its `?`. A query that a rule emptied loses it.
    private mutating func appendPairs(_ query: URLQuery, except own: Set<Int>) {
        var mark = Byte.question
        for (place, pair) in query.pairs.enumerated() where !own.contains(place) {
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
                rule: rule, before: String(decoding: before, as: UTF8.self),
                after: String(decoding: after, as: UTF8.self)))
    }
}
