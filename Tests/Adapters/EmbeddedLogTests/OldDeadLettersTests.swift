import Clocks
import Testing

@testable import EmbeddedLog

@Suite("Embedded log: which dead letters are old")
struct OldDeadLettersTests {
    private static let hour = Duration.hours(1)

    @Test(
        "Those that were old at the last two looks",
        arguments: [
            // The first look says nothing.
            ([[9, 9]], []), ([[9, 2], [9, 4]], [9, 2]),
            // The clock was wrong at one of the looks.
            ([[1, 1], [9, 9]], [1, 1]), ([[1, 1], [9, 9], [1, 2]], [1, 2]), ([[9, 9], [0, 0]], [0, 0]),
            // A look between them failed.
            ([[1, 1], nil, [9, 9]], [1, 1]),
        ] as [([[Int64]?], [Int64])])
    func ends(looks: [[Int64]?], ends: [Int64]) {
        var deadLetters = OldDeadLetters(every: Self.hour)
        for (hour, found) in looks.enumerated() {
            let isDue = deadLetters.beginLook(at: Instant(nanoseconds: 0) + Self.hour * hour)
            #expect(isDue)
            if let found { deadLetters.look(found) }
        }
        #expect(deadLetters.ends == ends)
    }

    @Test("A look is due once in an hour, also after one that failed; then what it found is done once")
    func due() {
        var deadLetters = OldDeadLetters(every: Self.hour)
        var due: [Int64] = []
        for minute: Int64 in 0..<180 where deadLetters.beginLook(at: Instant(milliseconds: 500) + .minutes(minute)) {
            due.append(minute)
            if minute != 60 { deadLetters.look([1]) }
        }
        #expect(due == [0, 60, 120])
        #expect(deadLetters.ends == [1])
        deadLetters.finish()
        #expect(deadLetters.ends == [])
    }
}
