import Canonical
import Testing
import VariantSpec

@Suite("Canonical form: what the configuration adds", .timeLimit(.minutes(1)))
struct CanonicalRulesTests {
    private static func rules() throws -> CanonicalRules {
        CanonicalRules(
            aliasGroups: [
                try HostAliasGroup(
                    id: "shop", hosts: ["img.example", "IMG1.example.", "cdn.example:8080", "münchen.example"],
                    mergesSchemes: true, volatileParameters: ["sig", "e%78p"], dialects: []),
                try HostAliasGroup(id: "news", hosts: ["a.news", "b.news"]),
            ],
            volatileParameters: ["utm"])
    }

    @Test(
        "Listed hosts are one, with their schemes if the group says so; noise leaves the name",
        arguments: [
            ("http://img.example/a", "https://img.example/a"),
            ("http://img1.example:80/a", "https://img.example/a"),
            ("https://IMG1.example:443/a?sig=1&b=2&exp=3", "https://img.example/a?b=2"),
            ("http://cdn.example:8080/a?sig=1", "https://img.example/a"),
            ("https://cdn.example:8080/a?%73ig", "https://img.example/a"),
            ("http://xn--mnchen-3ya.example/a", "https://img.example/a"),
            ("http://cdn.example/a?sig=1", "http://cdn.example/a?sig=1"),
            ("http://img.example:81/a", "http://img.example:81/a"),
            ("https://img.example:80/a", "https://img.example:80/a"),
            ("http://b.news/a?sig=1&utm=2", "http://a.news/a?sig=1"),
            ("https://b.news/a", "https://a.news/a"),
            ("http://other.example/a?utm=1&utm=2&b", "http://other.example/a?b"),
            ("http://other.example/a?", "http://other.example/a?"),
            ("http://other.example/a?UTM=1", "http://other.example/a?UTM=1"),
            ("http://other.example/a?utm=1&imageView&type=png", "http://other.example/a"),
            ("http://img.example/a?imageView&type=png", "https://img.example/a?imageView&type=png"),
        ])
    func aliases(received: String, canonical: String) throws {
        let rules = try Self.rules()
        let source = try rules.source(of: received)
        #expect(source.url == canonical)
        #expect(try rules.source(of: canonical).key == source.key)
        #expect(try rules.source(of: canonical).url == canonical)
    }

    @Test("A group's sources have keys of their own, though another deployment names the same URL")
    func groupInKey() throws {
        let url = "https://a.news/a"
        let grouped = try Self.rules().source(of: url)
        #expect(grouped.aliasGroup == "news")
        #expect(grouped.url == url)
        #expect(try grouped.key != CanonicalRules().source(of: url).key)
    }

    @Test(
        "What is fetched is what came, less the fragment and the dialect's own part, byte for byte",
        arguments: [
            ("HTTP://H.example:80/%7ea/../b?x=%2f#top", "HTTP://H.example:80/%7ea/../b?x=%2f"),
            ("http://h.example", "http://h.example"),
            ("http://h.example/é?", "http://h.example/é?"),
            ("http://h.example/a.jpg?imageView&thumbnail=80x80#x", "http://h.example/a.jpg"),
            ("http://H.example/%61.jpg?v=%2f&imageView&k=&thumbnail=8%30x80&v", "http://H.example/%61.jpg?v=%2f&k=&v"),
            ("http://h.example/a?&imageView&", "http://h.example/a"),
            ("HTTP://M\u{dc}nchen.example:080/\u{e9}#x", "HTTP://xn--mnchen-3ya.example:080/\u{e9}"),
            ("http://m\u{fc}nchen.example?v&imageView", "http://xn--mnchen-3ya.example?v"),
        ])
    func fetchURL(received: String, fetched: String) throws {
        let source = try CanonicalRules().source(of: received)
        #expect(Array(source.fetchURL.utf8) == Array(fetched.utf8))
        #expect(try CanonicalRules().source(of: Array(received.utf8)) == source)
        #expect(try CanonicalRules().source(of: fetched).key == source.key)
    }

    @Test("A dialect that is switched off leaves its parameters in the source")
    func dialectOff() throws {
        let source = try CanonicalRules(dialects: []).source(of: "http://h.example/a?imageView&type=gif")
        #expect(source.url == "http://h.example/a?imageView&type=gif")
        #expect(source.variant == nil)
    }

    @Test("A dialect URL without quality gets the configured one, then its size step")
    func dialectQuality() throws {
        let rules = CanonicalRules(sizeSteps: SizeSteps(sizes: [100], qualities: [60]), defaultQuality: 55)
        #expect(try rules.source(of: "http://h/a?imageView&thumbnail=80x40").variant?.description == "100x50-q60.jpg")
        #expect(
            try rules.source(of: "http://h/a?imageView&thumbnail=80x40&exact").variant?.description == "80x40-q55.jpg")
    }

    @Test(
        "Hosts of a group that no URL could have are refused, with the schemes' own ports",
        arguments: [
            "", "a b", "http://a", "a/b", "a?b", "a#b", "u@a", "127.1", "a:80", "a:443", "a:x", "[::", "a..b",
        ])
    func badHosts(host: String) {
        let failure = #expect(throws: CanonicalFailure.self) { try HostAliasGroup(id: "g", hosts: [host]) }
        #expect(failure?.description.isEmpty == false)
    }

    @Test("A host in two groups and a group named twice are problems; the first group has the host")
    func problems() throws {
        let rules = CanonicalRules(aliasGroups: [
            try HostAliasGroup(id: "one", hosts: ["a", "b"]), try HostAliasGroup(id: "two", hosts: ["b", "c", "d"]),
            try HostAliasGroup(id: "one", hosts: ["e"]), try HostAliasGroup(id: "none", hosts: []),
        ])
        #expect(
            rules.problems == [
                "b is in the alias groups one and two. Put it in one.",
                "The alias group one is defined twice. Name each once.",
            ])
        #expect(try rules.source(of: "http://b").url == "http://a/")
        #expect(try rules.source(of: "http://d").url == "http://c/")
        #expect(CanonicalRules().problems.isEmpty)
    }

    @Test("An explanation names every rule that changed something, in the order applied")
    func explanation() throws {
        let (source, steps) = try Self.rules().explain("HTTP://B.news:80/x/../%7ea?utm=1&imageView&thumbnail=80x80#top")
        #expect(
            steps == [
                CanonicalStep(rule: "fragment", before: "#top", after: ""),
                CanonicalStep(rule: "scheme", before: "HTTP", after: "http"),
                CanonicalStep(rule: "host", before: "B.news", after: "b.news"),
                CanonicalStep(rule: "port", before: ":80", after: ""),
                CanonicalStep(rule: "alias group news", before: "http://b.news", after: "http://a.news"),
                CanonicalStep(rule: "escapes", before: "/x/../%7ea", after: "/x/../~a"),
                CanonicalStep(rule: "dot segments", before: "/x/../~a", after: "/~a"),
                CanonicalStep(rule: "imageView", before: "imageView&thumbnail=80x80", after: "80x80-q80.jpg"),
                CanonicalStep(rule: "size steps", before: "80x80-q80.jpg", after: "90x90-q80.jpg"),
                CanonicalStep(rule: "volatile parameter", before: "utm=1", after: ""),
            ])
        #expect(try source == Self.rules().source(of: "HTTP://B.news:80/x/../%7ea?utm=1&imageView&thumbnail=80x80#top"))
        #expect(try Self.rules().explain(source.url).steps.isEmpty)
        #expect(
            try Self.rules().explain("http://h.example").steps == [
                CanonicalStep(rule: "empty path", before: "", after: "/")
            ])
    }
}
