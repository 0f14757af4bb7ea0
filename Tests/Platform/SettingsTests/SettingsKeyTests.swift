import Canonical
import Foundation
import KafkaSetup
import Posix
import SettingTypes
import TestSupport
import Testing

@testable import Settings

@Suite("Settings: the table of keys", .timeLimit(.minutes(1)))
struct SettingsKeyTests {
    @Test("Every default is accepted by its own key, and comes back as it was")
    func defaults() throws {
        for key in Settings.keys {
            let found = try settings(set: ["\(key.name)=\(key.text(Settings()))"])
            #expect(found == Settings(), "\(key.name)")
        }
    }

    @Test("Every example that a key shows is accepted by that key")
    func examples() throws {
        var shown = 0
        for key in Settings.keys + Settings.groupKeys("cdn") {
            guard let list = key.expectation.components(separatedBy: "such as ").dropFirst().first else { continue }
            let plain = list.replacing(", or nothing", with: "").replacing(", or 0", with: "")
            let examples =
                plain.hasPrefix("{") ? [plain] : plain.replacing(" or ", with: ", ").components(separatedBy: ", ")
            let group = key.name.hasPrefix("origins.cdn.") ? ["origins.cdn.hosts=a.example"] : []
            for example in examples {
                let found = try problems(set: group + ["\(key.name)=\(example)"])
                // Two settings may be at odds, such as a floor above its ceiling; each value is in its range.
                #expect(!found.contains { $0.contains(": expected ") }, "\(found)")
                shown += 1
            }
        }
        #expect(shown > 80)
    }

    @Test(
        "Environment names follow from the keys",
        arguments: [("fetch.allow", "MEZZOTINT_FETCH_ALLOW"), ("lanes.slow.maxWait", "MEZZOTINT_LANES_SLOW_MAX_WAIT")])
    func environment(name: String, variable: String) {
        #expect(Settings.keys.first { $0.name == name }?.environmentName == variable)
    }

    @Test("Names and environment names are unique, and every meaning is a sentence")
    func unique() {
        #expect(Set(Settings.keys.map(\.name)).count == Settings.keys.count)
        #expect(Set(Settings.keys.map(\.environmentName)).count == Settings.keys.count)
        #expect(Settings.keys.allSatisfy { $0.meaning.hasSuffix(".") && !$0.meaning.contains("|") })
    }

    @Test(
        "Each file of config/ shows every key of its log with its default, and reads without a problem",
        arguments: [("embedded", ["data"], "kafka."), ("kafka", ["data", "kafka.bootstrap"], "log.")])
    func shipped(name: String, said: [String], other: String) throws {
        let file = SettingsProblemTests.embedded.deletingLastPathComponent().appending(path: name + ".yaml")
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(
            try Settings.loaded(file: file.path, environment: [:], assignments: []).origins.keys.sorted() == said)
        // The prose ends at the first blank line; after it everything behind a # is a key.
        let keys = text.split(separator: "\n\n", maxSplits: 1)[1]
            .split(separator: "\n").map { $0.hasPrefix("# ") ? $0.dropFirst(2) : $0 }.joined(separator: "\n")
        var reader = SettingsReader()
        reader.read(file: file.lastPathComponent, Array(keys.utf8))
        reader.finish()
        #expect(reader.problems == [])
        #expect(reader.origins.keys.sorted() == Settings.keys.map(\.name).filter { !$0.hasPrefix(other) }.sorted())
        var expected = Settings()
        expected.data = "./../data"
        if said.contains("kafka.bootstrap") { expected.kafka.bootstrap = "127.0.0.1:9092" }
        #expect(reader.settings == expected)
    }
}
