import HTTP
import Testing

/// The right-hand sides are what `new URL(…)` of Node 20.20 gives, which follows the WHATWG URL standard, but for `|` and `^`
/// in paths: the standard has `^` escaped since 2024, and RFC 3986 has both only escaped.
@Suite("URLs in request lines", .timeLimit(.minutes(1)))
struct WireURLTests {
    @Test(
        "Path and query are percent-encoded as browsers do it",
        arguments: [
            ("http://h/p.png?name=ä", "http://h/p.png?name=%C3%A4"),
            ("http://h/ä€😀.png", "http://h/%C3%A4%E2%82%AC%F0%9F%98%80.png"),
            ("http://h/?ä€😀", "http://h/?%C3%A4%E2%82%AC%F0%9F%98%80"),
            ("http://h/a\"b<c>d`e{f}g|h^i j\u{7F}k\u{1}l", "http://h/a%22b%3Cc%3Ed%60e%7Bf%7Dg%7Ch%5Ei%20j%7Fk%01l"),
            ("http://h/?a\"b<c>d`e{f}g|h^i j\u{7F}k\u{1}l", "http://h/?a%22b%3Cc%3Ed`e{f}g|h^i%20j%7Fk%01l"),
            ("http://h/it's?it's", "http://h/it's?it%27s"),
            ("http://h/!$&'()*+,-.:;=@[]_~", "http://h/!$&'()*+,-.:;=@[]_~"),
            ("http://h/?!$&()*+,-./:;=?@[]_~", "http://h/?!$&()*+,-./:;=?@[]_~"),
            ("http://h/%C3%A4%c3%a4%2f%2F", "http://h/%C3%A4%c3%a4%2f%2F"),
            ("http://h/100%?100%&%zz%2", "http://h/100%?100%&%zz%2"),
            ("http://h/a\\b?c\\d", "http://h/a/b?c\\d"),
            ("http://h/a\tb\nc?d\te", "http://h/abc?de"),
            ("http://h/a?b#ä c", "http://h/a?b"),
            ("http://h", "http://h"),
            ("http://h?ä", "http://h?%C3%A4"),
            ("http://h/a?ä?\"", "http://h/a?%C3%A4?%22"),
            ("HTTP://H:80/../%7ea", "HTTP://H:80/../%7ea"),
            ("http://[2001:db8::1]:8080/ä", "http://[2001:db8::1]:8080/%C3%A4"),
            ("http://mé:p|w@münchen.example/é", "http://mé:p|w@münchen.example/%C3%A9"),
            ("//münchen.example/é", "//münchen.example/%C3%A9"),
            ("/a b?c d", "/a%20b?c%20d"), ("../é", "../%C3%A9"), ("?é", "?%C3%A9"), ("", ""),
            ("javascript:alert(\"é\")", "javascript:alert(%22%C3%A9%22)"),
        ])
    func table(received: String, sent: String) {
        #expect(WireURL.encoded(received) == sent)
        #expect(WireURL.encoded(sent) == sent)
    }

    @Test(
        "A link is encoded before it is followed",
        arguments: [
            ("a b?c d", "http://h/x/a%20b?c%20d"), ("/é?é#é", "http://h/%C3%A9?%C3%A9"),
            ("http://other.example/a b", "http://other.example/a%20b"),
            ("//other.example/é", "http://other.example/%C3%A9"),
            ("\\\\other.example\\é", "http://other.example/%C3%A9"), ("?|", "http://h/x/y?|"),
        ])
    func links(location: String, target: String) {
        #expect(LinkTarget.absolute(location, from: "http://h/x/y?ä") == target)
    }
}
