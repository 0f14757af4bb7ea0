package import Clocks

/// What is kept of an answer's headers: by what its origin is asked again, and how long its body may be used.
package struct CachePolicy: Sendable, Hashable {
    package var control = CacheControl()
    /// What `Expires` says; what cannot be read is long past.
    package var expires: WallTime?
    /// An entity tag, as it came.
    package private(set) var etag: String?
    /// An HTTP date, as it came.
    package private(set) var lastModified: String?
    package var selection: Selection?
    /// It was chosen by other headers than are sent now: of its validators an entity tag alone tells whether the answer to
    /// these would be the same, and until then nothing may use it (RFC 9111, 4.1). Of a request: no row has it.
    package var isOfOtherHeaders = false
    /// Where the validators came from, if a redirect led there: they say nothing of another URL.
    package var location: String?

    /// Of a row: what no request could carry is left out.
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
    package init(_ fields: AnswerFields, status: Int = 200, sent: [(name: String, value: String)], now: WallTime) {
        control = CacheControl(fields.values("cache-control"))
        // It is for caches that do not know what the status asks of them (RFC 9111, 5.2.2.3).
        if control.mustUnderstand { control.noStore = !Self.understood.contains(status) }
        let expiry = fields.values("expires")
        if !expiry.isEmpty { expires = fields.single("expires").flatMap { HTTPDate($0, now: now)?.time } ?? .epoch }
        selection = Selection(vary: fields.values("vary"), sent: sent)
        etag = fields.single("etag").flatMap { Self.isValidator($0) ? $0 : nil }
        let date = fields.single("date").flatMap { HTTPDate($0, now: now)?.time } ?? now
        lastModified = fields.single("last-modified").flatMap { text in
            // A date in the future would be confirmed through every change until then.
            HTTPDate(text, now: now).flatMap { $0.time <= date && Self.isValidator(text) ? text : nil }
        }
        if control.noStore { (etag, lastModified) = (nil, nil) }
    }

    /// The same after a 304 with these headers: what it says counts from now on, and the rest stands (RFC 9111, 4.3.4).
    package func updated(by fields: AnswerFields, sent: [(name: String, value: String)], now: WallTime) -> CachePolicy {
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

    /// The headers that ask whether it still holds; none where its origin gave nothing to ask by.
    package var conditions: [(name: String, value: String)] {
        [("If-None-Match", etag), ("If-Modified-Since", isOfOtherHeaders ? nil : lastModified)].compactMap {
            name, value in
            value.map { (name: name, value: $0) }
        }
    }

    /// Whether a 304 with these headers is about what is kept. One that names another entity tag is about something else.
    package func isConfirmed(by fields: AnswerFields) -> Bool {
        guard let etag, let other = fields.single("etag") else { return true }
        return Self.opaque(etag) == Self.opaque(other)
    }

    /// Whether its body may be used again without asking, while it is fresh.
    package var isReusable: Bool {
        !control.noStore && !control.noCache && !control.redirects.noCache && !isOfOtherHeaders
            && !(selection?.isUnknown ?? false)
    }
    /// Whether it may be used where it is not fresh and its origin cannot be asked.
    package var allowsStale: Bool { isReusable && !control.mustRevalidate && !control.redirects.mustRevalidate }

    /// The headers that it is made of, and freshness with it.
    package static let fields: Set = [
        "age", "cache-control", "date", "etag", "expires", "last-modified", "vary", "via",
    ]

    private static let understood: Set = [
        200, 203, 204, 300, 301, 302, 303, 304, 307, 308, 400, 403, 404, 405, 410, 414, 500, 501, 502, 503, 504,
    ]

    /// An entity tag of more bytes is not kept, since no server takes its like in a request.
    package static let validatorLimit = 1024

    /// It goes into a request as it is: without line ends and other control characters, and not too long.
    package static func isValidator(_ text: String) -> Bool {
        (1...validatorLimit).contains(text.utf8.count)
            && !text.unicodeScalars.contains { $0.value < 32 || $0.value == 127 || $0 == "\u{FFFD}" }
    }

    /// A weak comparison leaves out whether a tag is a weak one.
    private static func opaque(_ etag: String) -> Substring { etag.hasPrefix("W/") ? etag.dropFirst(2) : etag[...] }
}
