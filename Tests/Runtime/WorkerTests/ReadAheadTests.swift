import Records
import Testing

@testable import WorkerRuntime

@Suite("How much is read ahead")
struct ReadAheadTests {
    @Test(
        "Open jobs and answers on their way have each their bound, and so has what is finished behind an open one",
        arguments: [
            (unfinished: 0, answered: 0, span: 0, room: 100), (100, 0, 100, 0), (60, 0, 60, 40),
            // Answered ones leave their room to others, once.
            (100, 60, 100, 40), (160, 60, 160, 0), (100, 100, 100, 0), (1, 0, 32_726, 42), (1, 0, 33_576, -808),
        ])
    func room(unfinished: Int, answered: Int, span: Int, room: Int) {
        #expect(
            OwnedPartition.room(unfinished: unfinished, answered: answered, span: span, readAhead: 100) == room)
    }
}
