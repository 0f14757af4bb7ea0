import Foundation
import TestSupport
import Testing

@Suite("mezzotint normalise", .timeLimit(.minutes(1)))
struct NormaliseCommandTests {
    @Test("--json prints source, key and variant, a line for each URL")
    func json() throws {
        let ended = try Built.run(
            "mezzotint", ["normalise", "--json", "HTTPS://A.example:443/x/../b.jpg?imageView&thumbnail=80x80#f", "-"],
            input: Data("\nhttp://a.example\r\nhttp://a.example/c d.jpg\n".utf8))
        #expect(ended.status == 1)
        let objects = try ended.lines.map { try JSONSerialization.jsonObject(with: Data($0.utf8)) as? NSDictionary }
        #expect(objects.count == 3)
        #expect(objects[0]?["source"] as? String == "https://a.example/b.jpg")
        #expect((objects[0]?["sourceKey"] as? String)?.count == 64)
        #expect(objects[0]?["variant"] as? String == "90x90-q80.jpg")
        #expect(objects[1]?["source"] as? String == "http://a.example/")
        #expect(objects[1]?["variant"] is NSNull)
        let error = objects[2]?["error"] as? NSDictionary
        #expect((error?["code"] as? String)?.hasPrefix("canonical.") == true)
        #expect((error?["message"] as? String)?.contains("http://a.example/c d.jpg") == true)
        #expect(objects[2]?["source"] == nil)
    }

    @Test("Without --json each step is explained")
    func explained() throws {
        let ended = try Built.run("mezzotint", ["normalise", "HTTPS://A.example:443/x/../b.jpg"])
        #expect(ended.status == 0)
        for part in [
            "A.example → a.example", ":443 → nothing", "/x/../b.jpg → /b.jpg", "https://a.example/b.jpg", "none",
        ] {
            #expect(ended.output.contains(part), "\(part)")
        }
    }

    @Test("The URL that is fetched is shown as it is sent")
    func sent() throws {
        let ended = try Built.run("mezzotint", ["normalise", "http://A.example/ä.jpg?x={1}"])
        #expect(ended.output.contains("fetched from  http://A.example/%C3%A4.jpg?x={1}\n"), "\(ended.output)")
    }

    @Test("The configuration's alias groups and volatile parameters count")
    func rules() throws {
        let ended = try Built.run(
            "mezzotint",
            [
                "normalise", "--json", "http://img2.a.example/b.jpg?sig=1&x=2", "--set", "canonical.volatile=sig",
                "--set", "canonical.aliases={shop: {hosts: [img1.a.example, img2.a.example], mergeSchemes: true}}",
            ])
        #expect(ended.output.hasPrefix("{\"source\":\"https://img1.a.example/b.jpg?x=2\","))
    }
}
