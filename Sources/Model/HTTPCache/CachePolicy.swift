package import Clocks

/// Stored caching headers of a response: validators for revalidation, and limits on the use of its body.
package struct CachePolicy: Sendable, Hashable {
    package var control = CacheControl()
    /// Time from `Expires`; an unreadable date counts as long past.
    package var expires: WallTime?
    /// Entity tag, as received.
    package private(set) var etag: String?
    /// `Last-Modified` as an HTTP date, as received.
    package private(set) var lastModified: String?
    package var selection: Selection?
    /// Whether the response was selected by other request headers than the ones sent now. Its body must not be used
    /// until the origin confirms it, and only the entity tag can be used for that (RFC 9111, 4.1). Set for a request
    /// only; no row has it.
    package var isOfOtherHeaders = false
    /// URL that the validators belong to, if a redirect led there. Validators are meaningless for another URL.
    package var location: String?

    /// Takes the values of a row. Validators that no request can carry are dropped.
    package init(
        control: CacheControl = CacheControl(), expires: WallTime? = nil, etag: String? = nil,
        lastModified: String? = nil,
        selection: Selection? = nil, location: String? = nil
    ) {
        (self.control, self.expires, self.selection, self.location) = (control, expires, selection, location)
        self.etag = etag.flatMap { Self.isValidator($0) ? $0 : nil }
        self.lastModified = lastModified.flatMap { Self.isValidator($0) ? $0 : nil }
    }

    /// - Parameter sent: the request's headers.
    package init(_ fields: ResponseFields, status: Int = 200, sent: [(name: String, value: String)], now: WallTime) {
        control = CacheControl(fields.values("cache-control"))
        // `no-store` is then meant for caches that do not know the status's caching rules (RFC 9111, 5.2.2.3).
        if control.mustUnderstand { control.noStore = !Self.understood.contains(status) }
        let expiry = fields.values("expires")
        if !expiry.isEmpty { expires = fields.single("expires").flatMap { HTTPDate($0, now: now)?.time } ?? .epoch }
        selection = Selection(vary: fields.values("vary"), sent: sent)
        etag = fields.single("etag").flatMap { Self.isValidator($0) ? $0 : nil }
        let date = fields.single("date").flatMap { HTTPDate($0, now: now)?.time } ?? now
        lastModified = fields.single("last-modified").flatMap { text in
            // A date in the future would match through every change until then.
            HTTPDate(text, now: now).flatMap { $0.time <= date && Self.isValidator(text) ? text : nil }
        }
        if control.noStore { (etag, lastModified) = (nil, nil) }
    }

    /// The policy after a 304 with these headers: its values replace the stored ones, and the others stay (RFC 9111,
    /// 4.3.4).
    package func updated(by fields: ResponseFields, sent: [(name: String, value: String)], now: WallTime) -> CachePolicy
    {
        let newer = CachePolicy(fields, sent: sent, now: now)
        var updated = self
        updated.isOfOtherHeaders = false
        updated.selection = selection?.chosen(by: sent)
        if !fields.values("cache-control").isEmpty { updated.control = newer.control }
        if newer.expires != nil { updated.expires = newer.expires }
        if !fields.values("vary").isEmpty { updated.selection = newer.selection }
        if newer.etag != nil { updated.etag = newer.etag }
        if newer.lastModified != nil { updated.lastModified = newer.lastModified }
        if updated.control.noStore { (updated.etag, updated.lastModified) = (nil, nil) }
        return updated
    }

    /// Conditional headers for revalidation; empty if the origin gave no validator.
    package var conditions: [(name: String, value: String)] {
        [("If-None-Match", etag), ("If-Modified-Since", isOfOtherHeaders ? nil : lastModified)].compactMap {
            name, value in
            value.map { (name: name, value: $0) }
        }
    }

    /// Whether a 304 with these headers confirms the stored response. A 304 with another entity tag is about another
    /// response.
    package func isConfirmed(by fields: ResponseFields) -> Bool {
        guard let etag, let other = fields.single("etag") else { return true }
        return Self.opaque(etag) == Self.opaque(other)
    }

    /// Whether the body may be reused without revalidation while it is fresh.
    package var isReusable: Bool {
        !control.noStore && !control.noCache && !control.redirects.noCache && !isOfOtherHeaders
            && !(selection?.isUnknown ?? false)
    }
    /// Whether the body may be used stale if the origin cannot be reached.
    package var allowsStale: Bool { isReusable && !control.mustRevalidate && !control.redirects.mustRevalidate }

    /// Names of the headers that determine the policy and the freshness.
    package static let fields: Set = [
        "age", "cache-control", "date", "etag", "expires", "last-modified", "vary", "via",
    ]

    private static let understood: Set = [
        200, 203, 204, 300, 301, 302, 303, 304, 307, 308, 400, 403, 404, 405, 410, 414, 500, 501, 502, 503, 504,
    ]

    /// Most bytes of an entity tag that is stored, because no server accepts a longer one in a request.
    package static let validatorLimit = 1024

    /// Whether a text can be sent in a request as it is: no line ends or other control characters, and not too long.
    package static func isValidator(_ text: String) -> Bool {
        (1...validatorLimit).contains(text.utf8.count)
            && !text.unicodeScalars.contains { $0.value < 32 || $0.value == 127 || $0 == "\u{FFFD}" }
    }

    /// The tag without its weakness mark, for weak comparison.
    private static func opaque(_ etag: String) -> Substring { etag.hasPrefix("W/") ? etag.dropFirst(2) : etag[...] }
}
