import Canonical
import Failures
import Testing
import VariantSpec

@Suite("Canonical form: refusals", .timeLimit(.minutes(1)))
struct CanonicalFailureTests {
    @Test("No password reaches a sentence, and control bytes are shown")
    func excerpt() {
        let failure = #expect(throws: CanonicalFailure.self) {
            try CanonicalRules().source(of: "http://me:secret@other@h.example/a")
        }
        #expect(failure?.description.contains("secret") == false)
        #expect(failure?.description.hasPrefix("http://…@h.example/a is refused: ") == true)
        let control = #expect(throws: CanonicalFailure.self) {
            try CanonicalRules().source(of: "http://me:secret@h/a\n\u{1b}")
        }
        #expect(
            control?.description.hasPrefix("http://…@h/a\\x0A\\x1B is refused: byte 21 is the control byte 0A") == true)
    }

    @Test(
        "A password is known by its place, in what is no URL too",
        arguments: [
            ("http://me:secret@h/a@b", "http://…@h/a@b"), ("http://me:sec/ret@h/a", "http://…@h/a"),
            ("http://me:sec?ret@h/a", "http://…@h/a"), ("http://me:sec#ret@h", "http://…@h"),
            ("//me:secret@h/a", "//…@h/a"),
            ("http:/me:secret@h/a", "…@h/a"), ("http:me:secret@h//a", "…@h//a"), ("me:secret@h/a", "…@h/a"),
            ("http:\\\\me:secret@h\\a", "…@h\\a"), ("me:secret@h?u=http://a", "…@h?u=http://a"),
            // No password: an @ in a path or a query.
            ("http://h/a@2x.jpg", "http://h/a@2x.jpg"), ("http://h:80/a@2x.jpg", "http://h:80/a@2x.jpg"),
            ("http://[::1]/a@2x.jpg", "http://[::1]/a@2x.jpg"), ("a/b@2x.jpg", "a/b@2x.jpg"),
            ("http://h?a@b", "http://h?a@b"),
        ])
    func excerpts(url: String, shown: String) {
        #expect(Excerpt.url(Array(url.utf8)) == shown)
    }

    @Test("The beginning of a password is not quoted as a port")
    func passwordLikePort() {
        let failure = #expect(throws: CanonicalFailure.self) {
            try CanonicalRules().source(of: "http://me:sec/ret@h/a")
        }
        #expect(failure?.code == "canonical.userinfo")
        #expect(failure?.description.contains("sec") == false)
    }

    @Test("A long URL is cut in its sentence, between characters")
    func longExcerpt() {
        let failure = #expect(throws: CanonicalFailure.self) {
            try CanonicalRules().source(of: "ftp://h/" + String(repeating: "\u{e9}", count: 5_000))
        }
        #expect((failure?.description.utf8.count ?? 0) < 400)
        #expect(failure?.description.contains("\u{fffd}") == false)
    }

    @Test("Bytes that are no text are refused as such")
    func notText() {
        let failure = #expect(throws: CanonicalFailure.self) {
            try CanonicalRules().source(of: Array("http://h/".utf8) + [0xff])
        }
        #expect(failure?.code == "canonical.not-utf8")
    }

    @Test("Codes are listed once, under their stage, all for a person to look at")
    func catalogue() {
        let entries = CanonicalFailure.catalogue
        #expect(Set(entries.map(\.code)).count == entries.count)
        #expect(entries.allSatisfy { $0.code.hasPrefix("canonical.") || $0.code.hasPrefix("spec.") })
        #expect(entries.allSatisfy { $0.verdict == .deadLetter && $0.meaning.hasSuffix(".") })
    }
}
