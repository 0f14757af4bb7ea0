import Canonical
import Failures
import Images
import Ports
import Records
import Testing

/// A failure's sentence is shown in the worker's log, in outcomes and in dead letters: what comes next is not its to say.
@Suite("The sentences of failures", .timeLimit(.minutes(1)))
struct FinalSentenceTests {
    private static let url: SourceURL = "http://a.example/1.jpg"

    private static let failures: [any StageFailure] = [
        FetchFailure.invalidURL(url), FetchFailure.refusedHost(url: url, host: "a.example", isListed: true),
        FetchFailure.refusedPort(url: url, port: 22), FetchFailure.refusedAddress(url: url, address: "127.0.0.1"),
        FetchFailure.refusedName(url: url, address: "127.0.0.1"), FetchFailure.resolution(url: url),
        FetchFailure.connection(url: url, reason: "Couldn't connect to server"),
        FetchFailure.deadline(url: url, phase: "connect"), FetchFailure.status(url: url, 404),
        FetchFailure.status(url: url, 403), FetchFailure.status(url: url, 408), FetchFailure.status(url: url, 429),
        FetchFailure.status(url: url, 503), FetchFailure.status(url: url, 418), FetchFailure.notModified(url: url),
        FetchFailure.redirects(url: url, limit: 5), FetchFailure.badRedirect(url: url, to: "ftp://a.example/"),
        FetchFailure.tooLarge(url: url, limit: 1), FetchFailure.empty(url: url), FetchFailure.truncated(url: url),
        FetchFailure.badResponse(url: url, reason: "no status"), FetchFailure.noSpace(reason: "full"),
        FetchFailure.cancelled, RenderFailure.crashed(reason: "signal 11"), RenderFailure.deadline(milliseconds: 10),
        RenderFailure.unavailable(reason: "gone"), RenderFailure.noSpace(reason: "full"),
        RenderFailure.unreadable(reason: "gone"), RenderFailure.uninspected(reason: "signal 11"),
        StoreFailure.obstructed(StorePlace("a"), reason: "a folder"),
        StoreFailure.unreadable(StorePlace("a"), reason: "gone"),
        StageFault.unexpected("gone"), CacheFailure.notStored,
        RetryCause.hostGivenUp(host: "a.example", code: "fetch.connection"),
    ]

    @Test("None promises another attempt: a dead letter shows it, too")
    func promises() {
        for failure in Self.failures {
            let sentence = failure.description
            for promise in ["tried again", "tried as often", "try again", "retried", "retries", "retry."] {
                // The one that is final names the setting that ended it.
                let isFinal = failure.code == "retry.host-given-up" && promise == "retry."
                #expect(isFinal || !sentence.contains(promise), "\(failure.code): \(sentence)")
            }
        }
    }

    @Test(
        "A job that is given up says after how many attempts, and by which limit",
        arguments: [
            (1, "retry.attempts", "No. Gave up after 1 attempt (retry.attempts)."),
            (5, "retry.retryFor", "No. Gave up after 5 attempts (retry.retryFor)."),
        ])
    func final(attempts: Int, bound: String, sentence: String) {
        let note = FailureNote(code: "fetch.connection", message: "No.", verdict: .retry, isConfidential: true)
        let end = note.final(after: attempts, bound)
        #expect(end.message == sentence && end.code == note.code && end.isConfidential && end.verdict == .retry)
    }
}
