import Records
import Testing

@testable import WorkerRuntime

@Suite("How much is read ahead")
struct ReadAheadTests {
    @Test(
        "Open jobs and answers on their way have each their bound, and so has what is finished behind an open one",
        arguments: [
            (topic: Topic.jobsFast, unfinished: 0, answered: 0, span: 0, room: 100),
            (.jobsFast, 100, 0, 100, 0), (.jobsFast, 60, 0, 60, 40),
            // Answered ones leave their room to others, once.
            (.jobsFast, 100, 60, 100, 40), (.jobsFast, 160, 60, 160, 0), (.jobsFast, 100, 100, 100, 0),
            (.jobsSlow, 1, 0, 8_150, 42), (.jobsSlow, 1, 0, 9_000, -808),
            // Retries that wait for their time are kept apart; answers that nobody takes hold them back too.
            (.retry, 1_000, 0, 20_000, 100), (.retry, 1_100, 0, 20_000, 0), (.retry, 1_100, 30, 20_000, 30),
            (.retry, 5_000, 100, 20_000, -3_800), (.retry, 200, 100, 200, 0),
        ])
    func room(topic: Topic, unfinished: Int, answered: Int, span: Int, room: Int) {
        #expect(
            OwnedPartition.room(
                topic, unfinished: unfinished, answered: answered, span: span, readAhead: 100, retryHeap: 1_000) == room)
    }
}
