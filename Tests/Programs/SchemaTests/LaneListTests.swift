import Foundation
import ImageModel
import Records
import Testing

/// What is written by hand for each lane, held to `Lane.allCases`.
@Suite("What names lanes names those that there are", .timeLimit(.minutes(1)))
struct LaneListTests {
    private static let lanes = Set(Lane.allCases.map(\.rawValue))

    private func json(_ path: String) throws -> Any {
        try JSONSerialization.jsonObject(with: Data(contentsOf: Validator.configuration.appending(path: path)))
    }

    private func text(_ path: String) throws -> String {
        try String(contentsOf: Validator.configuration.appending(path: "../ops/\(path)"), encoding: .utf8)
    }

    /// Lists of words that a value must be one of, wherever they stand.
    private func enumerations(_ value: Any) -> [Set<String>] {
        if let values = value as? [Any] { return values.flatMap(enumerations) }
        guard let object = value as? [String: Any] else { return [] }
        let own = (object["enum"] as? [String]).map { [Set($0)] } ?? []
        return own + object.values.flatMap(enumerations)
    }

    @Test("Schemas of what has a lane take each lane and no other", arguments: ["job", "outcome", "headers", "control", "control-outcome"])
    func schemas(name: String) throws {
        let named = try enumerations(json("schemas/\(name).json")).filter { !$0.isDisjoint(with: Self.lanes) }
        #expect(named == [Self.lanes])
    }

    @Test("A host's row tells what waits for it on each lane")
    func origins() throws {
        let schema = try #require(try json("schemas/origin.json") as? [String: Any])
        let fields = try #require(schema["properties"] as? [String: Any]).keys.filter {
            $0.hasPrefix("waiting") && $0 != "waitingSince"
        }
        #expect(Set(fields) == Set(Lane.allCases.map { "waiting" + $0.title }))
    }

    @Test("The AsyncAPI document has each lane's topic")
    func channels() throws {
        let document = try #require(try json("asyncapi.json") as? [String: Any])
        let channels = try #require(document["channels"] as? [String: [String: Any]])
        let topics = channels.values.compactMap { $0["address"] as? String }.filter { $0.contains("jobs.") }
        #expect(topics.sorted() == Topic.lanes.map { "{prefix}" + $0.rawValue }.sorted())
    }

    @Test("The recorded targets are those of each lane, where nothing else is set")
    func targets() throws {
        let rules = try text("monitoring/rules/recording.yml").split(separator: "- record: ")
            .filter { $0.hasPrefix("mezzotint:lane_target_seconds") }
            .map { $0.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }[1...4] }
        let wanted = Lane.allCases.map { lane in
            [
                "expr: >-", "max by (cluster, namespace) (mezzotint_lane_target_seconds{lane=\"\(lane)\"})",
                "or group by (cluster, namespace) (mezzotint_consumer_lag_seconds) * \(lane.target.components.seconds)",
                "labels: {lane: \(lane), topic: \(Topic.jobs(lane).rawValue)}",
            ]
        }
        #expect(rules.map(Array.init) == wanted)
    }

    @Test(
        "Dashboards, alerts and scaling have each lane's topic",
        arguments: [
            "monitoring/dashboards/overview.json", "monitoring/rules/alerts.yml",
            "deploy/kubernetes/keda/scaledobject.yaml",
        ])
    func operations(path: String) throws {
        let named = try text(path).matches(of: #/jobs\.[a-z]+\b/#).map { String($0.0) }
        #expect(Set(named).isSuperset(of: Topic.lanes.map(\.rawValue)), "\(named)")
    }
}
