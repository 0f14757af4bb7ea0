internal import Clocks
package import Failures

/// Reason why a job is parked, or dead-lettered, although the job itself did not fail.
package enum RetryCause: CodedFailure, Hashable {
    case slow(Duration)
    case deferred
    /// The source has changed, and its other stored variants must be re-rendered.
    case sourceChanged
    /// Too many jobs of the host on the job's lane are in memory.
    case hostCrowded(host: String)
    /// The host failed, or asked for a pause; `code` is the failure's.
    case hostBlocked(host: String, code: String)
    /// The host was at fault for as long as the job may be tried.
    case hostGivenUp(host: String, code: String)
    /// A control holds back the job's lane or host, or all jobs.
    case paused(Pause)

    package var kind: Code {
        switch self {
        case .slow: .slow
        case .deferred: .deferred
        case .sourceChanged: .sourceChanged
        case .hostCrowded: .hostCrowded
        case .hostBlocked: .hostBlocked
        case .hostGivenUp: .hostGivenUp
        case .paused: .paused
        }
    }

    package var description: String {
        switch self {
        case .slow(let time):
            "The job has run for longer than \(time.milliseconds) ms while later jobs finished: it is parked while it continues, so that the lag keeps falling."
        case .deferred: "The job is not due yet: it is parked until then."
        case .sourceChanged:
            "The source has changed: its other stored variants are re-rendered. This job does so if its worker crashes first."
        case .hostCrowded(let host):
            "The worker has as many jobs of \(host) on this lane in memory as it may (a quarter of worker.readAhead), or older ones wait: the job is parked until its turn. To fetch more from the host at once, raise origins.concurrency, or the concurrency of its group."
        case .hostBlocked(let host, let code):
            "\(host) is blocked for now (\(code)): the job is parked. 'mezzotint origins' shows until when."
        case .hostGivenUp(let host, let code):
            "\(host) was left alone (\(code)) until the job's time was over (retry.retryFor): the job is tried no more. Publish it again once the host is well, which 'mezzotint origins' says."
        case .paused(let pause):
            "\(pause): the job is parked. 'mezzotint resume' ends the pause."
        }
    }

    package var isConfidential: Bool { kind.isConfidential }

    package enum Code: String, FailureCode {
        case slow = "retry.slow"
        case deferred = "retry.deferred"
        case sourceChanged = "retry.source-changed"
        case hostCrowded = "retry.host-crowded"
        case hostBlocked = "retry.host-blocked"
        case hostGivenUp = "retry.host-given-up"
        case paused = "retry.paused"

        /// Whether the code could reveal something about the worker's network.
        package var isConfidential: Bool { [.hostBlocked, .hostGivenUp].contains(self) }

        package var meaning: String {
            switch self {
            case .slow: "The job ran long while later jobs finished: it is parked while it continues."
            case .deferred: "The job is not due yet: it is parked until then."
            case .sourceChanged:
                "A source has changed: a worker's own job re-renders its other stored variants."
            case .hostCrowded:
                "Jobs of the host fill a quarter of worker.readAhead on the job's lane, or older ones wait: the job is parked until its turn, without an attempt."
            case .hostBlocked:
                "The job's host failed, or asked for a pause: the job is parked, without an attempt."
            case .hostGivenUp:
                "The job's host failed, or asked for a pause, for as long as retry.retryFor allows retries."
            case .paused: "A control pauses the job's lane or host, or all jobs: the job is parked until the pause ends, without an attempt."
            }
        }

        package var verdict: Verdict { self == .hostGivenUp ? .deadLetter : .wait }
    }
}

extension FailureNote {
    /// Whether only the job's host holds it back, so that it continues as soon as the host has capacity.
    package var isOfHost: Bool {
        // Compared by hand, because each deferred job is asked several times.
        code == RetryCause.Code.hostCrowded.rawValue || code == RetryCause.Code.hostBlocked.rawValue
            || code == RetryCause.Code.sourceChanged.rawValue || code == RetryCause.Code.paused.rawValue
    }
}
