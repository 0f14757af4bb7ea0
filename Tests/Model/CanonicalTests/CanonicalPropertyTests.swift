import Canonical
import Failures
import TestSupport
import Testing
import VariantSpec

@Suite("Canonical form: what holds for any bytes", .timeLimit(.minutes(5)))
struct CanonicalPropertyTests {
    static let seeds = [
        "http://example.com/a/b/../c.jpg?x=1&y=%2f#top", "HTTPS://User:pw@EXAMPLE.com.:443/%7e/%2E%2e/?",
        "http://[2001:DB8:0:0::1]:80/",
        "http://a.news/p?imageView=1&enlarge=1&quality=80&thumbnail=80x80&type=webp&axis=5_0&sig=1",
        "http://b.news:8080/p?thumbnail=200y200&imageView&exact&&param=1z1&utm", "http://192.0.2.1/a;b=c/./..//d",
        "http://m\u{fc}nchen.example\u{3002}de/\u{5199}|^?q=\u{e9}", "https://xn--mnchen-3ya.example/a%20b+c?k&k=&k=+",
        "http://0x7f.1/?watermark|imageView&type=1", "http://[::ffff:192.0.2.1]/",
        "http://stra\u{df}e.example/\u{200d}",
    ].map { Array($0.utf8) }

    /// Pieces that mean something somewhere: mutation by them finds more than mutation by bytes.
    static let pieces = [
        "/", "//", "/../", "/./", "%2e", "%2F", "%", "%4", "%c3%A9", "?", "&", "=", "#", "@", ":", ":80", ".", "..",
        "[", "]", "::",
        "1", "0x", "xn--", "\u{3002}", "\u{ff11}", "\u{ad}", "\u{fc}", "\u{130}", "\u{1e9e}", "\u{200d}", "|",
        "imageView", "thumbnail=",
        "9x9", "0y9", "type=png", "quality=", "exact", "sig", "utm=1", "\\", " ", "a.news", "b.news", "HTTP", "s", "\0",
    ].map { Array($0.utf8) }

    static func mutant(_ random: inout SeededRandom) -> [UInt8] {
        if random.next() % 8 == 0 {
            let noise = (0..<Int.random(in: 0...60, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            return random.next() % 2 == 0 ? noise : Array("http://".utf8) + noise
        }
        var bytes = seeds.randomElement(using: &random)!
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            let at = Int.random(in: 0...bytes.count, using: &random)
            let end = min(bytes.count, at + Int.random(in: 0...4, using: &random))
            switch random.next() % 4 {
            case 0: bytes.removeSubrange(at..<end)
            case 1: bytes.insert(contentsOf: pieces.randomElement(using: &random)!, at: at)
            case 2: bytes.replaceSubrange(at..<end, with: pieces.randomElement(using: &random)!)
            default: if at < bytes.count { bytes[at] = UInt8.random(in: 0x21...0x7e, using: &random) }
            }
        }
        return bytes
    }

    static func rules() throws -> [CanonicalRules] {
        [
            CanonicalRules(),
            CanonicalRules(
                aliasGroups: [
                    try HostAliasGroup(
                        id: "n", hosts: ["a.news", "b.news:8080", "m\u{fc}nchen.example.de"], mergesSchemes: true,
                        volatileParameters: ["sig"])
                ],
                volatileParameters: ["utm", "type"], urlByteLimit: 90),
        ]
    }

    @Test(
        "N(N(u)) = N(u), in plain ASCII, or one sentence of refusal; nothing traps",
        arguments: 1...4 as ClosedRange<UInt64>)
    func idempotent(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var (accepted, variants) = (0, 0)
        let rules = try Self.rules()
        for i in 0..<40_000 {
            let received = Self.mutant(&random)
            let rules = rules[i % rules.count]
            do throws(CanonicalFailure) {
                let once = try rules.source(of: received)
                let twice = try rules.source(of: once.url)
                let refetched = try rules.source(of: once.fetchURL)
                accepted += 1
                if once.variant != nil { variants += 1 }
                guard twice.url == once.url, twice.key == once.key, twice.fetchURL == once.url, twice.variant == nil,
                    twice.aliasGroup == once.aliasGroup, refetched.key == once.key, refetched.variant == nil,
                    once.url.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
                else {
                    Issue.record("\(String(decoding: received, as: UTF8.self)) gives \(once), then \(twice)")
                    continue
                }
            } catch {
                guard CanonicalFailure.catalogue.contains(where: { $0.code == error.code }),
                    error.description.hasSuffix(".") || error.description.hasSuffix("?"),
                    error.description.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f })
                else {
                    Issue.record("\(error)")
                    continue
                }
            }
        }
        #expect(accepted > 4_000, "mutation must leave enough that is accepted")
        #expect(variants > 400)
    }

    @Test("Servers that were read before make the same of a URL as by itself, and who is asked follows from them alone")
    func servers() throws {
        var random = SeededRandom(seed: 10)
        var accepted = 0
        for rules in try Self.rules() {
            var recent = RecentServers()
            for _ in 0..<20_000 {
                let received = String(decoding: Self.mutant(&random), as: UTF8.self)
                let alone = Result { () throws(CanonicalFailure) in try rules.source(of: received) }
                let again = Result { () throws(CanonicalFailure) in try rules.source(of: received, &recent) }
                #expect(again == alone)
                guard case .success(let source) = alone else { continue }
                accepted += 1
                let url = SourceURL(source.fetchURL)
                #expect(OriginHost(of: String(url.authority)) == OriginHost(of: url.fetched))
            }
        }
        #expect(accepted > 4_000)
    }

    @Test("Any bytes are a spec, whose spelling is itself, or one sentence of refusal")
    func specs() {
        var random = SeededRandom(seed: 9)
        let seeds = ["640x480-q80.webp", "160y160-q80-axis2_5-enlarge.jpg", "640x0.png", "full-q80.webp"].map {
            Array($0.utf8)
        }
        let pieces = [
            "x", "y", "-", "q", "axis", "_", ".", "0", "99999999999999999999", "enlarge", "full", ".jpg", "\u{d7}",
            "gif",
        ].map { Array($0.utf8) }
        var accepted = 0
        for _ in 0..<50_000 {
            var text = seeds.randomElement(using: &random)!
            for _ in 0..<Int.random(in: 0...2, using: &random) {
                let at = Int.random(in: 0...text.count, using: &random)
                let end = min(text.count, at + Int.random(in: 0...2, using: &random))
                text.replaceSubrange(at..<end, with: pieces.randomElement(using: &random)!)
                if random.next() % 8 == 0, !text.isEmpty {
                    text[Int.random(in: 0..<text.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
                }
            }
            do throws(SpecFailure) {
                let spec = try VariantSpec(utf8: text[...])
                accepted += 1
                guard try VariantSpec(spec.description) == spec else {
                    Issue.record("\(spec) is not read back")
                    continue
                }
            } catch {
                guard SpecFailure.catalogue.contains(where: { $0.code == error.code }) else {
                    Issue.record("\(error)")
                    continue
                }
            }
        }
        #expect(accepted > 2_000)
    }
}
