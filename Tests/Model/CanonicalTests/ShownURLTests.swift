import Canonical
import Testing
import VariantSpec

@Suite("URLs as people may see them", .timeLimit(.minutes(1)))
struct ShownURLTests {
    @Test(
        "A user and parameters that sign are cut, wherever they stand; what chooses the image stays",
        arguments: [
            ("https://a.example/b.jpg?w=640&h=480", "https://a.example/b.jpg?w=640&h=480"),
            ("https://a.example/b.jpg?X-Amz-Signature=f00&w=640", "https://a.example/b.jpg?…&w=640"),
            (
                "https://a.example/b.jpg?w=640&x-amz-signature=f00&X-Amz-Credential=AK%2F1",
                "https://a.example/b.jpg?w=640&…"
            ),
            ("https://a.example/b.jpg?w=1&sig=a%2Bb&h=2&token=t", "https://a.example/b.jpg?w=1&…&h=2&…"),
            ("https://a.example/b.jpg?%73%69g=x;w=1", "https://a.example/b.jpg?…;w=1"),
            ("https://a.example/b.jpg?w=1;sig=x", "https://a.example/b.jpg?w=1;…"),
            ("https://a.example/b.jpg?w=1#access_token=x&a=1", "https://a.example/b.jpg?w=1#…&a=1"),
            ("https://a.example/b.jpg?sig", "https://a.example/b.jpg?…"),
            ("https://a.example/b.jpg?auth_key=1-0-0-f00&w=1", "https://a.example/b.jpg?…&w=1"),
            (
                "https://a.example/b.jpg?Policy=e30&Signature=f00&Key-Pair-Id=K1&w=1",
                "https://a.example/b.jpg?…&Key-Pair-Id=K1&w=1"
            ),
            ("https://a.example/sig=x", "https://a.example/sig=x"),
            ("https://a.example/b.jpg?w=1?SIG=x", "https://a.example/b.jpg?w=1?…"),
            ("https://a.example/b.jpg?s%69g=x&size=1", "https://a.example/b.jpg?…&size=1"),
            ("https://a.example/b.jpg?sid=1&six=2&käse=3", "https://a.example/b.jpg?sid=1&six=2&käse=3"),
            ("https://a.example/b.jpg?signed=1&design=2&mysig=3", "https://a.example/b.jpg?signed=1&design=2&mysig=3"),
            ("https://me:secret@a.example/b.jpg?w=1&sig=x", "https://…@a.example/b.jpg?w=1&…"),
            ("https://me@a.example/", "https://…@a.example/"),
            ("https://a.example/b@2x.jpg", "https://a.example/b@2x.jpg"),
            ("https://a.example/?%zz&&=", "https://a.example/?%zz&&="), ("", ""), ("?", "?"), ("&&", "&&"),
        ])
    func shown(url: String, shown: String) {
        #expect(ShownURL(url).description == shown)
        // Said again, it stays.
        #expect(ShownURL(shown).description == shown)
    }

    @Test("What an installation calls volatile is hidden, too, on every host")
    func volatile() throws {
        let group = try HostAliasGroup(id: "shop", hosts: ["a.example"], volatileParameters: ["Stamp"])
        let hidden = CanonicalRules(aliasGroups: [group], volatileParameters: ["expires", "k%C3%A4se"]).hidden
        #expect(ShownURL("http://b/?expires=1&w=2&stamp=3", hiding: hidden).description == "http://b/?…&w=2&…")
        #expect(ShownURL("http://b/?käse=1&w=2", hiding: hidden).description == "http://b/?…&w=2")
        #expect(ShownURL("http://b/?expires=1").description == "http://b/?expires=1")
    }

    @Test("In a sentence a URL ends where a URL does")
    func sentence() {
        let text =
            "The origin answered 403 for https://a.example/b?w=1&sig=x (see <https://c/?token=t>). Check & see; sign it."
        #expect(
            HiddenParameters.wellKnown.hide(in: text)
                == "The origin answered 403 for https://a.example/b?w=1&… (see <https://c/?…>). Check & see; sign it.")
    }

    @Test("No text and no dump of a source's URL shows what is hidden")
    func source() {
        let url = SourceURL("https://me:secret@a.example/b.jpg?sig=secret&w=1")
        var dumped = ""
        dump(url, to: &dumped)
        for text in ["\(url)", String(reflecting: url), String(describing: [url]), dumped, "\(url.shown)"] {
            #expect(!text.contains("secret"), "\(text)")
        }
        #expect(url.fetched == "https://me:secret@a.example/b.jpg?sig=secret&w=1")
        #expect(ShownURL("https://a/b?c=d#e").withoutQuery == "https://a/b?…")
        #expect(ShownURL("https://a/b").withoutQuery == "https://a/b")
    }

    @Test("What is refused is told without it")
    func refused() {
        let rules = CanonicalRules(volatileParameters: ["stamp"])
        let failure = #expect(throws: CanonicalFailure.self) {
            try rules.source(of: "ftp://a.example/b.jpg?sig=secret&stamp=secret&w=1")
        }
        #expect(failure?.description.hasPrefix("ftp://a.example/b.jpg?…&w=1 is refused") == true)
    }
}
