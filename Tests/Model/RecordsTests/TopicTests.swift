import ImageModel
import Records
import Testing

@Suite("Topics")
struct TopicTests {
    @Test("Each has its own place, in the order of all, and is known by its name")
    func places() {
        #expect(Topic.allCases.map(\.ordinal) == Array(Topic.allCases.indices))
        for topic in Topic.allCases { #expect(Topic(rawValue: topic.rawValue) == topic) }
        #expect(Topic(rawValue: "jobs") == nil)
        #expect(Topic.allCases.map(\.rawValue).prefix(3) == ["jobs.fast", "jobs.slow", "control"])
    }

    @Test("So has each lane")
    func lanes() { #expect(Lane.allCases.map(\.ordinal) == Array(0..<Lane.count)) }
}
