import Clocks
import Foundation
import Ports
import Records
import TestSupport
import Testing

/// Runs `validate.py`, with Debian's Python and its python3-jsonschema (`ops/install tests`).
enum Validator {
    static let configuration = Project.file("config")
    private static let script = URL(filePath: #filePath).appending(path: "../validate.py").standardizedFileURL.path

    /// Problems of a folder like `config`: a line each, none if all is right.
    static func check(document folder: URL = configuration) async throws -> [Substring] {
        let meta = try #require(Shared.part("schemas/asyncapi-3.0.0.json"))
        return try await run("document '\(meta.path)'", folder)
    }

    /// Problems of records against what `asyncapi.json` says of their topics.
    static func check(_ records: [Record]) async throws -> [Substring] {
        let lines = try records.map { record -> String in
            let headers = Dictionary(record.headers.map { ($0.name, $0.text) }) { first, _ in first }
            let object: [String: Any] = [
                "topic": record.topic.rawValue, "key": String(decoding: record.key, as: UTF8.self), "headers": headers,
                "value": record.value.map(value) ?? NSNull(),
            ]
            return String(decoding: try JSONSerialization.data(withJSONObject: object), as: UTF8.self)
        }
        return try await run("records", configuration, input: lines.joined(separator: "\n"))
    }

    static func check(_ records: [NewRecord]) async throws -> [Substring] {
        try await check(
            records.enumerated().map { offset, new in
                Record(
                    topic: new.topic, partition: new.partition, offset: Int64(offset), timestamp: 0, key: new.key,
                    value: new.value, headers: new.headers)
            })
    }

    /// Bytes that are no JSON stand as text.
    private static func value(_ bytes: [UInt8]) -> Any {
        (try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed))
            ?? String(decoding: bytes, as: UTF8.self)
    }

    private static func run(_ words: String, _ folder: URL, input: String = "") async throws -> [Substring] {
        let scratch = try TemporaryFolder()
        try Data(input.utf8).write(to: scratch.url.appending(path: "input"))
        let program = try RunningProgram(
            "/bin/sh", ["-c", "exec python3 -W ignore '\(script)' '\(folder.path)' \(words) < input"], in: scratch.url)
        let ended = try await program.ended()
        // Anything but "no problem" and "problems" is the validator's own end.
        try #require(ended.status == (ended.lines.isEmpty ? 0 : 1) && ended.errors.isEmpty, "\(ended.errors)")
        return ended.lines
    }
}
