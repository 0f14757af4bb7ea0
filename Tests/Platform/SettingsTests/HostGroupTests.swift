import Canonical
import Foundation
import SettingTypes
import Testing

@testable import Settings

@Suite("Settings: groups of hosts", .timeLimit(.minutes(1)))
struct HostGroupTests {
    @Test("Groups of hosts come from a file, and from assignments, whole and by parts")
    func originGroups() throws {
        let file = """
            origins:
              concurrency: 4
              freshness: {floor: 1m, ceiling: 9d}
              cdn: {hosts: ["*.cdn.example", img.example], concurrency: 64, rate: 200/s, bytesPerSecond: 50MiB, freshness: {floor: 10m, ceiling: 30d}}
            origins.shop.hosts: shop.example
            """
        let found = try settings(
            file: file, set: ["origins.cdn.attempts=3", "origins.api={hosts: [a.example], rate: 30/m}"])
        #expect(found.origins.concurrency == 4 && found.origins.groups.map(\.name) == ["cdn", "shop", "api"])
        let cdn = found.origins.groups[0]
        #expect(cdn.hosts == ["*.cdn.example", "img.example"] && cdn.concurrency == 64 && cdn.rate == 200)
        #expect(cdn.bytesPerSecond == 50 << 20 && cdn.attempts == 3 && found.origins.groups[2].rate == 0.5)
        let day = Duration.seconds(86_400)
        #expect(found.freshness(of: cdn) == Settings.Origins.Freshness(floor: .seconds(600), ceiling: day * 30))
        #expect(found.freshness(of: found.origins.groups[1]) == found.origins.freshness)
        let refused = try problems(set: ["origins.cdn={hosts: [a.example], freshness: {floor: 31d}}"])
        #expect(refused.count == 1 && refused[0].contains("origins.cdn.freshness.floor"), "\(refused)")
        let shown = Dictionary(uniqueKeysWithValues: found.allKeys.map { ($0.name, $0.text(found)) })
        #expect(shown["origins.api.rate"] == "30/m" && shown["origins.cdn.rate"] == "200/s")
        #expect(found.canonicalRules.originGroups.map(\.name) == ["cdn", "shop", "api"])
    }

    @Test("A header of a group is read from where it stands, is never shown, and makes its sources other ones")
    func originHeaders() throws {
        let found = try settings(set: [
            "origins.cdn={hosts: [a.example], headers: {Authorization: Bearer hush, X-A: b}}"
        ])
        #expect(
            found.origins.groups[0].headers.map { $0.revealed.map { "\($0.name): \($0.value)" } } == [
                "Authorization: Bearer hush", "X-A: b",
            ])
        #expect(!found.allKeys.map { $0.text(found) }.joined().contains("hush"))
        let (with, without) = (found.canonicalRules, Settings().canonicalRules)
        let url = "https://a.example/1.jpg"
        #expect(try with.source(of: url).key != without.source(of: url).key)
        #expect(try with.source(of: "https://b.example/1.jpg").key == without.source(of: "https://b.example/1.jpg").key)
        let plain = try settings(set: ["origins.cdn.hosts=[a.example]"]).canonicalRules
        #expect(try plain.source(of: url).key == without.source(of: url).key)
    }

    @Test(
        "What a group cannot have is named",
        arguments: [
            "origins.cdn.concurrency=4", "origins.cdn.hosts=[a b]", "origins.cdn={hosts: [a.example], rate: fast}",
            "origins.cdn={hosts: [a.example], headers: {Host: x}}", "origins.cdn={hosts: [a.example], colour: red}",
            "origins.concurency=4", "origins.cdn={hosts: [a.example], headers: {X-A: file:/no/such/file}}",
        ])
    func badGroups(assignment: String) throws {
        #expect(try problems(set: [assignment]).count == 1)
    }

    @Test("A pattern of hosts that YAML takes for an alias is to be quoted")
    func patterns() throws {
        for assignment in ["origins.cdn.hosts=[*.cdn.example]", "origins.cdn={hosts: [*.cdn.example]}"] {
            let refused = try problems(set: [assignment])
            let advice = #"Quote what begins with an asterisk: "*.example.com"."#
            #expect(refused.count == 1 && refused[0].hasSuffix(advice), "\(refused)")
        }
        // Whatever else is no YAML is not taken for a setting that there is not.
        let torn = try problems(set: ["origins.cdn={hosts: [a.example}"])
        #expect(torn.count == 1 && torn[0].hasPrefix("--set: origins.cdn: this is not YAML: "), "\(torn)")
        let found = try settings(set: [#"origins.cdn.hosts=["*.cdn.example"]"#])
        #expect(found.origins.groups.map(\.hosts) == [["*.cdn.example"]])
    }
}
