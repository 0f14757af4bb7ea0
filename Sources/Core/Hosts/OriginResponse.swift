package import Clocks
package import Failures
package import HTTPCache
package import Images
package import Ports

/// What a fetch shows about its host, apart from the requested source.
package enum OriginResponse: Sendable, Hashable {
    /// A response with an image, or with a fault of the source alone, such as 404 or a text body.
    case responded(bytes: Int)
    /// A server failure: 5xx, a failed connection, or a missed deadline.
    case failed
    /// A failure with a requested pause shorter than the circuit breaker's. It counts as a failure, or the breaker
    /// would never open for a host that asks for a moment after each failure.
    case failing(for: Duration)
    /// The host asks for a pause (429, 503, or a 5xx with Retry-After), with the duration if it names one. A 503 may be
    /// the fault of one URL.
    case refused(after: Duration?, mayBeOfURL: Bool)
    /// The host was not asked, or the worker abandoned the fetch.
    case unasked
}

/// How long a worker remembers that a source gives no usable image.
package enum Remembrance: Sendable, Hashable {
    /// The source is missing or is not an image. That may change at any time.
    case absent
    /// The source is permanently gone (410).
    case gone
}

/// A fetch that gave no image: the reason, and what it shows about the host and the source.
package struct Unfetched: Sendable {
    package let note: FailureNote
    package let response: OriginResponse
    /// nil: the worker remembers nothing about the source.
    package let remembrance: Remembrance?
    /// Validators for asking the origin whether its response is still the same. nil: the response had none.
    package let validators: CachePolicy?

    package init(
        _ note: FailureNote, _ response: OriginResponse, _ remembrance: Remembrance? = nil,
        validators: CachePolicy? = nil
    ) {
        (self.note, self.response, self.remembrance) = (note, response, remembrance)
        self.validators = validators
    }

    /// The body that arrived is not a readable image.
    package init(_ failure: RenderFailure, of head: ResponseHead, at now: WallTime) {
        var policy = CachePolicy(head.fields, sent: head.sent, now: now)
        policy.location = head.location
        let report = Unfetched(failure)
        self.init(report.note, report.response, report.remembrance, validators: policy)
    }

    package init(_ failure: some StageFailure) {
        (note, validators) = (FailureNote(failure), nil)
        switch failure {
        case let fetch as FetchFailure: (response, remembrance) = (fetch.response, fetch.remembrance)
        // The host delivered the bytes, and the renderer examined them.
        case is RenderFailure:
            (response, remembrance) = (.responded(bytes: 0), failure.verdict == .fail ? .absent : nil)
        default: (response, remembrance) = (.unasked, nil)
        }
    }
}

extension FetchFailure {
    /// Publishers cannot tell names without an address, closed ports and refused addresses apart, so all three count
    /// the same.
    fileprivate var response: OriginResponse {
        switch self {
        case .status(_, 429, let wait): .refused(after: wait, mayBeOfURL: false)
        case .status(_, 503, let wait): .refused(after: wait, mayBeOfURL: true)
        case .status(_, 500..., let wait?):
            wait < .seconds(30) ? .failing(for: wait) : .refused(after: wait, mayBeOfURL: true)
        case .status(_, let status, _): status >= 500 || status == 408 ? .failed : .responded(bytes: 0)
        case .refusedName, .resolution, .connection, .deadline, .truncated: .failed
        case .invalidURL, .refusedHost, .refusedPort, .refusedAddress, .noSpace, .cancelled: .unasked
        case .notModified, .redirects, .badRedirect, .tooLarge, .empty, .encoded, .badResponse: .responded(bytes: 0)
        }
    }

    fileprivate var remembrance: Remembrance? {
        guard verdict == .fail else { return nil }
        if case .status(_, 410, _) = self { return .gone }
        return response == .unasked ? nil : .absent
    }
}
