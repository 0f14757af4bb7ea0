import Foundation
import TestSupport
import Testing

@Suite(
    "The AsyncAPI document and its schemas", .timeLimit(.minutes(2)),
    .enabled(if: Shared.has("schemas/asyncapi-3.0.0.json"), Comment(rawValue: Shared.absent)))
struct DocumentTests {
    @Test("Stand against AsyncAPI 3.0's own schema, and every reference leads somewhere")
    func valid() async throws {
        #expect(try await Validator.check() == [])
    }

    @Test(
        "A broken one is refused, where it is broken",
        arguments: [
            (file: "asyncapi.json", from: #""action": "send""#, to: #""action": "shout""#, says: "operations/"),
            ("asyncapi.json", #""asyncapi": "3.0.0""#, #""asyncapi": "2.0""#, "asyncapi"),
            ("asyncapi.json", "messages/finished", "messages/ended", "Unresolvable"),
            ("asyncapi.json", "schemas/outcome.json", "schemas/income.json", "schemas/income.json"),
            ("schemas/outcome.json", "job.json#/definitions/spec", "job.json#/definitions/spek", "spek"),
        ])
    func broken(file: String, from: String, to: String, says: String) async throws {
        let scratch = try TemporaryFolder()
        let folder = scratch.url.appending(path: "config")
        try FileManager.default.copyItem(at: Validator.configuration, to: folder)
        let path = folder.appending(path: file)
        let text = try String(contentsOf: path, encoding: .utf8)
        try text.replacingOccurrences(of: from, with: to).write(to: path, atomically: true, encoding: .utf8)
        let problems = try await Validator.check(document: folder)
        #expect(problems.contains { $0.contains(says) }, "\(problems)")
    }
}
