import Canonical
import Testing

@Suite("The host that a URL is fetched from", .timeLimit(.minutes(1)))
struct OriginHostTests {
    @Test(
        "Scheme, name and port, in one spelling",
        arguments: [
            ("http://example.org/a.jpg", "http://example.org"), ("HTTP://EXAMPLE.org:80/b?c#d", "http://example.org"),
            ("https://example.org:443", "https://example.org"),
            ("https://example.org.:8443/", "https://example.org:8443"),
            ("http://example.org:443/", "http://example.org:443"), ("http://[::0001]:8080/", "http://[::1]:8080"),
            ("https://bücher.example/x", "https://xn--bcher-kva.example"),
            ("http://example.org?a", "http://example.org"),
        ])
    func text(url: String, host: String) {
        #expect(OriginHost(of: url).description == host)
        #expect(OriginHost(of: String(SourceURL(url).authority)).description == host)
    }

    @Test(
        "What no rules take has no host of its own",
        arguments: ["", "ftp://example.org/", "http://u:p@example.org/", "http://a:b/"])
    func none(url: String) {
        #expect(OriginHost(of: url) == OriginHost(of: "no URL"))
    }
}
