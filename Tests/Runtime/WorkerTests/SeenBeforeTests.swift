import Testing

@testable import WorkerRuntime

@Suite("What comes a second time")
struct SeenBeforeTests {
    @Test("A word was seen once it was noted, until two others took its place")
    func words() {
        var seen = SeenBefore()
        let (word, neighbour): (UInt64, UInt64) = (5 | 7 << 48, 6 | 7 << 48)
        #expect(!seen.note(word) && !seen.note(neighbour))
        #expect(seen.note(word) && seen.note(neighbour))
        #expect(!seen.note(5 | 8 << 48) && seen.note(word))
        #expect(!seen.note(5 | 9 << 48) && !seen.note(5 | 10 << 48) && !seen.note(word))
    }

    @Test("Hundreds that come in turn are nearly all known")
    func many() {
        var (seen, generator) = (SeenBefore(), SystemRandomNumberGenerator())
        let words = (0..<256).map { _ in generator.next() }
        for word in words { _ = seen.note(word) }
        #expect(words.count { seen.note($0) } > 200)
    }

    @Test("Thousands that come in turn are not: their looks would be gone until they come again")
    func tooMany() {
        var (seen, generator) = (SeenBefore(), SystemRandomNumberGenerator())
        let words = (0..<3_000).map { _ in generator.next() }
        for word in words { _ = seen.note(word) }
        #expect(words.count { seen.note($0) } < 300)
    }
}
