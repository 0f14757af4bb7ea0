package import Clocks
package import Failures
package import HTTPCache
package import Images
package import Ports

/// What a fetch tells of its host, and not of what was asked for.
package enum OriginAnswer: Sendable, Hashable {
    /// With a picture, or with a fault of the source alone, such as 404 or a text.
    case answered(bytes: Int)
    /// Not as it should: 5xx, a connection that failed, a deadline.
    case failed
    /// The same, and it wants to be left alone for so long: for less than the breaker finds, so that those who
    /// ask for a moment after each failure would never be found to fail if that did not count.
    case failing(for: Duration)
    /// It wants to be left alone (429, 503, any 5xx that says for how long), for so long if it says so. A 503 may be the
    /// fault of one URL.
    case refused(after: Duration?, mayBeOfURL: Bool)
    /// It was not asked, or the worker gave up.
    case unasked
}

/// For how long it is remembered that a source gives nothing to make pictures of.
package enum Remembrance: Sendable, Hashable {
    /// Not there, or no picture: may come any time.
    case absent
    /// Gone for good (410).
    case gone
}

/// A fetch that gave no picture: why, and what that tells of the host and of the source.
package struct Unfetched: Sendable {
    package let note: FailureNote
    package let answer: OriginAnswer
    /// nil: nothing is remembered of the source.
    package let remembrance: Remembrance?
    /// What its origin can be asked by whether it still gives the same; nil: it said nothing of that.
    package let validators: CachePolicy?

    package init(
        _ note: FailureNote, _ answer: OriginAnswer, _ remembrance: Remembrance? = nil, validators: CachePolicy? = nil
    ) {
        (self.note, self.answer, self.remembrance) = (note, answer, remembrance)
        self.validators = validators
    }

    /// The bytes that came are no readable picture.
    package init(_ failure: RenderFailure, of head: AnswerHead, at now: WallTime) {
        var policy = CachePolicy(head.fields, sent: head.sent, now: now)
        policy.location = head.location
        let report = Unfetched(failure)
        self.init(report.note, report.answer, report.remembrance, validators: policy)
    }

    package init(_ failure: some StageFailure) {
        (note, validators) = (FailureNote(failure), nil)
        switch failure {
        case let fetch as FetchFailure: (answer, remembrance) = (fetch.answer, fetch.remembrance)
        // Its bytes came, and were looked at.
        case is RenderFailure: (answer, remembrance) = (.answered(bytes: 0), failure.verdict == .fail ? .absent : nil)
        default: (answer, remembrance) = (.unasked, nil)
        }
    }
}

extension FetchFailure {
    /// Names without an address, ports that are shut and addresses that are refused look alike to those who publish, so
    /// they count alike.
    fileprivate var answer: OriginAnswer {
        switch self {
        case .status(_, 429, let wait): .refused(after: wait, mayBeOfURL: false)
        case .status(_, 503, let wait): .refused(after: wait, mayBeOfURL: true)
        case .status(_, 500..., let wait?):
            wait < .seconds(30) ? .failing(for: wait) : .refused(after: wait, mayBeOfURL: true)
        case .status(_, let status, _): status >= 500 || status == 408 ? .failed : .answered(bytes: 0)
        case .refusedName, .resolution, .connection, .deadline, .truncated: .failed
        case .invalidURL, .refusedHost, .refusedPort, .refusedAddress, .noSpace, .cancelled: .unasked
        case .notModified, .redirects, .badRedirect, .tooLarge, .empty, .encoded, .badAnswer: .answered(bytes: 0)
        }
    }

    fileprivate var remembrance: Remembrance? {
        guard verdict == .fail else { return nil }
        if case .status(_, 410, _) = self { return .gone }
        return answer == .unasked ? nil : .absent
    }
}
