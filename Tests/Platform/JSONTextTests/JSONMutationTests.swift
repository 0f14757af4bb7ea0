import Foundation
import JSONText
import TestSupport
import Testing

@Suite("Hostile JSON", .timeLimit(.minutes(3)))
struct JSONMutationTests {
    private static let seeds = [
        #"{"url":"http://origin.example/a b.jpg?x=1","variants":["1280x1280-q80.webp","160y160-q80.webp"],"lane":"fast"}"#,
        #"{"version":"0123456789abcdef","width":1280,"region":[0,0.5,-1e-7,1.25E+3],"alpha":false,"location":"a\/b\u00e9\ud834\udd1e"}"#,
        #"[null,true,false,0,-0.0,"€𝄞",{"a":{"b":[[[]]]}},"\u0000\"\\"]"#,
    ].map { Array($0.utf8) }

    private static let pieces: [[UInt8]] = [
        "{", "}", "[", "]", "\"", "\\", ",", ":", "\\u", "\\ud800", "\\udc00", "1e999", "-", "0", ".", "null", "\u{0}", "\n",
        "é", String(repeating: "[", count: 40), String(repeating: "9", count: 40),
    ].map { Array($0.utf8) } + [[0xFF], [0xC3], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80]]

    /// One to four random edits.
    static func mutate(_ text: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
        var text = text
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let at = Int.random(in: 0...text.count, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0 where at < text.count: text[at] = UInt8.random(in: 0...255, using: &random)
            case 1 where at < text.count: text.remove(at: at)
            case 2: text.insert(contentsOf: pieces.randomElement(using: &random)!, at: at)
            case 3: text.removeSubrange(at...)
            default:
                let from = Int.random(in: 0...at, using: &random)
                text.insert(contentsOf: Array(text[from..<at]), at: at)
            }
        }
        return text
    }

    @Test("200,000 mutations trap nowhere, and every typed read ends")
    func mutations() async throws {
        var random = SeededRandom(seed: 4)
        var taken = 0
        for i in 0..<200_000 {
            // Other tests wait for this thread.
            if i % 1_000 == 0 { await Task.yield() }
            let text = Self.mutate(Self.seeds[i % Self.seeds.count], &random)
            if refusal(of: text) == nil { taken += 1 }
            _ = try? JSONReader.read(text) { (reader) throws(JSONFailure) in
                try reader.openObject()
                while let key = try reader.nextKey() {
                    switch key {
                    case "url", "lane", "location": _ = try reader.string()
                    case "width": _ = try reader.integer()
                    case "region":
                        try reader.openArray()
                        while try reader.nextElement() { _ = try reader.number() }
                    case "alpha": _ = try reader.boolean()
                    default: try reader.skip()
                    }
                }
            }
        }
        // Some mutations stay JSON; if none did, the mutator would test nothing.
        #expect(taken > 1_000 && taken < 190_000)
    }

    @Test("What is taken is JSON for Foundation's parser too")
    func agreement() throws {
        var random = SeededRandom(seed: 5)
        for i in 0..<20_000 {
            let text = Self.mutate(Self.seeds[i % Self.seeds.count], &random)
            guard refusal(of: text) == nil else { continue }
            // Foundation refuses numbers beyond a double; we read over them.
            guard !String(decoding: text, as: UTF8.self).contains("999") else { continue }
            #expect(throws: Never.self, "\(String(decoding: text, as: UTF8.self))") {
                try JSONSerialization.jsonObject(with: Data(text), options: .fragmentsAllowed)
            }
        }
    }
}
