import Failures
import Foundation
import HTTP
import ImageModel
import Ports
import Posix
import TestSupport
import Testing

@testable import Origin

@Suite("Answers with a coding", .timeLimit(.minutes(1)))
struct CodingTests {
    /// 5,000 bytes of one letter, behind gzip.
    private static let packed = Array(
        Data(base64Encoded: "H4sIAAAAAAACA+3BMQEAAADCoGzrX8oUfkABAAAAAG8DvnsaE4gTAAA=") ?? Data())
    /// 3 GiB of empty blocks of deflate behind three layers of gzip: a fourth decodes them all, and gives nothing that would
    /// be counted.
    private static let bomb = Array(
        Data(
            base64Encoded:
                "H4sIAAAAAAACA+2a+1fSaR7HIxpKY9OaUk6i2LG1Y04hW5qaI+npOquy3TTSvIxNlONdSxlU2OlCO43U5iaWprs1dvHaaLNoihik"
                + "39VSx8hcV0XRlFFKMDJUlO8y8n08Z/6EOefh8NNz3p/P83nenxfvn6BcWbHk189S/Nv+H2P8lUUqJfdPNog/7cDDKCfCy6B1YbEb"
                + "Xa63hl6WpibZxPYdWn1QykvHV4U8eralKlb495Mb0qxbpNLLxWfeLq3QJLd/Ve9DZSSNMwwjWgMDzZ1zyryPPjaEjaCTHS10I/KL"
                + "ZF6ITuuHuANHjDp0VojqI1A9umVOpvPp+M23Pk8hoVLv1X64y87QXO1FVVyj68Kc1sL2QFqRACeTDe5gWixdOOucOX20vZq7zCjt"
                + "6NlvvXB0uf3kQUl7My8zvXRkGe7XE94va9eLkVjify+p+LsxUVCt5CYrujFkuvDGk28XjnbFxqcVdeWkEvP43c/Hj4NmsyPG7fb4"
                + "Cunh4XgXs1+7WWxaW3H0Lt20giL6BLshNf67mVQiyYEgafkClO4rTS48YW1cSWc5+S0cOXrn7Jn3tsN/VJbnfrps4ejO4dMfHKpp"
                + "kXaFlDVANGI8VZiNi1Bygsctzc/8sbY/M5jxkhbpEE4t/Rro1EKDPJVYY8nIrit2NFt0e6Rpu1CAaxvmcPtssBvktS6jclpkOmnO"
                + "2RWUUspb2ef8pqlzBdnAowCbKbXJI77oeBDw6F+dnBfNvLj0rP1A9A9DPtuDkHFRw3zoanbj2eg5PfPzAwiPnS4uqwB2lEVMMOS0"
                + "wc0+7hO5mL2pubbyMG/C9qua+aRQcIPqXh4D4SmjtPll4IqMx5tVPZ8oJdoUjzXYC7YxX1WaPKIoYrzAAy7u1dDs8P9WzmxYDYyc"
                + "SBjtIWnXNbCKKzA38nv7WVMb7fGjyqmqJ8CO6qxaeiDCK9W+qgnF7O1khgekjJF+9mnQI3Hghtv5X/ra4y/xnyZUgTl0nSUFLNsL"
                + "KIQNwgZhg7BB2CBsEDYIG4QNwgZhg7BB2CBsEDYIG4QNwgZhg7BB2CBsEDYIG4QNwgZhg7BB2CBsEDYI2+8dNlQiNuw78yDuZ08f"
                + "C5frf12GBrg7Dz7l7Vzhvx5ZO/p1n//j183O5X67D9CS8xTuGwNLRNciLdMGNxQfa27e6uhL6WA2aROf/vRtBMd2x5IlD8figpl/"
                + "FODYeWer/M1D7A+i2R8ZJiWS9s5X15ofea1gxnh4iwB3n1s5zP8z9iKvEKR8LxnvLEkbmCoGOtGVj+EzjvV/UPdzgOwqdVN/MnHa"
                + "4srdW0B1Cj13TGCye7Z+q3nBG1WRczeF0Y2c6XRFLcbyIXlvWdUXZPx7N/XJi6DyS+8HzbRBt+9nWSmgv27+/nEyPggNR6yEGFfJ"
                + "FYLQbE9CQJamQb04boLtO/F7v3S713V6IHOICHoyQtJ+arPPHajajO8ekfEN0in2CcyO9qfT26gIT6+drE9xMo/7wz0R86sbnoQ3"
                + "Ua9bLEFlU+pfsqMbo0hTHaOg/6iB8ZMnocAoFlC2Yti+CbMXrU8i5s0pMrsXx1Vs/R9n5LzWoyxNA2Q+DQWpz2mDmz4TxADVrfne"
                + "KC8TCWrdE2DH+UlWuACnUQ6zVXuxcQMTqls3JxH/IyvLWQcqvxv753qEJ3MbL2oD/V/oi2KSiJ7zHHt6GIZ8S613vPsQyW1GbKig"
                + "Al39icf61uXKuGMaxUpMxs7wGsuNbmQcI3dhkL7ZbhDJTDu27FadBXYsH+6oJ+MVMkTXno2Ne0tx6sbRIdI1PnOTK6hcK/dzF+D4"
                + "Ua/o+aD/TQ29a4iUOKv3zqpZa2bhesrZvphntMj3HP2JCDAuu+605oaVtPeRQmyLyXTTyS+3ILyiR54l2J/UWs58TOCbdryuokMN"
                + "7FjVXMT2ItTzr6pu22HjuovbNpc+ozlaVQcFr8AqXe6djyHjV8kecD1A/20D3JIm2uAHzdm5RBeA7nhN1+Xoxjf6iboGMK7uXKfC"
                + "lXJBFCXmUIFscuSHUAGOHpV0BAui6/K3A6tMO3YNK+oGdpO/p+uSielWlI6dO7BxY77JPxr8t+hdDqdul1ljlYcDlnd5EsiXDqKx"
                + "4BfEakCPXIluHBtQTysPAXS7kkpXI7wWTX9a5uK47+6IQ3xXJMi+0YcD2fDzAyIyPks69MAZU93vkdibdhxS41sJ1uJF4o6ajHTw"
                + "LUyLx7b36oNHadkahOfzwpu5AVTmrSoxgUW8a+wJA/0z0Ic2CE8u6Z6ULSZF6XCwkwCXM1CnmV0ct3cPpzLDWnFpakIMZIgwJ96L"
                + "MHeh6WAgiKdq7s7PEF5lYmY4WEuKm/GFycjPM3w0fdj2YLDBYIPBBoMNBhsMNhhsMNhgsMFgg8EGgw0GGww2GGy/12BTL6QHanGX"
                + "m1veKjFWrmxEl6OhccZurhWqozujc3Z3uiz2Dan3LPk/PWvLGmE5AAA=") ?? Data())

    private static func chunk(_ bytes: [UInt8]) -> [UInt8] {
        Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + Array("\r\n0\r\n".utf8)
    }

    private func code(_ answer: [UInt8], _ fetcher: GuardedFetcher = .ofLoopback()) async throws -> String? {
        let origin = try BrokenOrigin(.answer(answer))
        do throws(FetchFailure) {
            _ = try await fetcher.source(FetchRequest(url: origin.url(), lane: .fast))
            return nil
        } catch {
            return error.code
        }
    }

    /// `head`: lines after the status line; what libcurl makes of those in brackets is what 7.88.1 was seen to do.
    @Test(
        "A transfer encoding that is not exactly chunked ends the transfer, whatever the status and the spelling",
        arguments: [200, 206, 302, 404, 503],
        [
            ["Transfer-Encoding: gzip"], ["Transfer-Encoding: gzip, chunked"],
            ["Transfer-Encoding: gzip, gzip, gzip, chunked"],
            ["Transfer-Encoding: chunked", "Transfer-Encoding: gzip"],
            ["Transfer-Encoding: gzip", "Transfer-Encoding: chunked"],
            ["TRANSFER-ENCODING:X-GZIP,chunked"], ["transfer-encoding:\t deflate \t, CHUNKED"],
            ["Transfer-Encoding : gzip"], ["Transfer-Encoding:", " gzip"], ["Transfer-Encoding: chunked,", "\tgzip"],
            ["Transfer-Encoding: br, chunked"], ["Transfer-Encoding: zstd, chunked"], ["Transfer-Encoding: rot13"],
            ["Transfer-Encoding: identity"], ["Transfer-Encoding:"], ["Transfer-Encoding: chunked, chunked"],
            ["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"], ["Transfer-Encoding: chunked;q=1"],
            ["Location: /end", "Transfer-Encoding: gzip, chunked"],
        ])
    func transferEncoding(status: Int, head: [String]) async throws {
        let lines = ["HTTP/1.1 \(status) Some"] + head + ["", ""]
        let answer = Array(lines.joined(separator: "\r\n").utf8) + Self.chunk(Self.packed) + [13, 10]
        #expect(try await code(answer) == "fetch.encoded")
    }

    @Test("So does one in an early answer, and one among the trailers")
    func elsewhere() async throws {
        let early =
            "HTTP/1.1 103 Early\r\nTransfer-Encoding: gzip\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc"
        #expect(try await code(Array(early.utf8)) == "fetch.encoded")
        for name in ["Transfer-Encoding", "content-encoding"] {
            let trailed = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\(name): gzip\r\n\r\n"
            #expect(try await code(Array(trailed.utf8)) == "fetch.encoded")
        }
    }

    @Test(
        "A body that comes before a final head ends the transfer: nothing would bound it",
        arguments: ["101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade", "101 Switching\r\nUpgrade: h2c"])
    func switching(head: String) async throws {
        let answer = Array("HTTP/1.1 \(head)\r\n\r\n".utf8) + [UInt8](repeating: 65, count: 1 << 20)
        #expect(try await code(answer) == "fetch.bad-response")
    }

    @Test("An old version counts in any case: its length and a transfer encoding do not go together")
    func lowerCase() async throws {
        let answer = "http/1.0 200 ok\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
        #expect(try await code(Array(answer.utf8)) == "fetch.bad-response")
    }

    @Test("Trailers count as much as a head does")
    func longTrailers() async throws {
        let line = "X-Some: \(String(repeating: "x", count: 1000))\r\n"
        let trailed =
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\(String(repeating: line, count: 40))\r\n"
        #expect(try await code(Array(trailed.utf8)) == "fetch.bad-response")
    }

    @Test(
        "A content encoding ends the transfer; where no body is wanted, the status says more",
        arguments: [
            ["Content-Encoding: gzip"], ["Content-Encoding: identity, gzip"], ["content-ENCODING:\tBR"],
            ["Content-Encoding : gzip"],
            ["Content-Encoding: identity", "Content-Encoding: deflate"], ["Content-Encoding:", "  gzip"],
            ["Content-Encoding: x"], ["Content-Encoding: aws-chunked,gzip"],
            ["Content-Encoding: aws-chunked", "Content-Encoding: br"],
        ])
    func contentEncoding(head: [String]) async throws {
        for (status, expected) in [
            (200, "fetch.encoded"), (404, "fetch.not-found"), (503, "fetch.server-error"), (206, "fetch.status"),
        ] {
            let lines = ["HTTP/1.1 \(status) Some", "Content-Length: \(Self.packed.count)"] + head + ["", ""]
            #expect(try await code(Array(lines.joined(separator: "\r\n").utf8) + Self.packed) == expected)
        }
    }

    @Test(
        "An answer with two ideas of where its body ends is no proper HTTP",
        arguments: [
            "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked",
            "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 3",
            "HTTP/1.1 200 OK\r\nContent-Length: 13\r\nContent-Length: 3",
        ])
    func framing(head: String) async throws {
        #expect(try await code(Array("\(head)\r\n\r\n3\r\nabc\r\n0\r\n\r\n".utf8)) == "fetch.bad-response")
    }

    @Test(
        "Chunks alone, and what changes nothing, are taken",
        arguments: [
            ["Transfer-Encoding: chunked"], ["TRANSFER-encoding: \t Chunked \t"],
            ["Transfer-Encoding: chunked", "Content-Encoding: identity"],
            ["Transfer-Encoding: chunked", "Content-Encoding:", "content-encoding: IDENTITY"],
        ])
    func harmless(head: [String]) async throws {
        let lines = ["HTTP/1.1 200 OK"] + head + ["", ""]
        #expect(try await code(Array(lines.joined(separator: "\r\n").utf8) + Self.chunk([1, 2]) + [13, 10]) == nil)
    }

    @Test(
        "Content encodings that encode nothing are ignored",
        arguments: [
            "aws-chunked", "UTF-8", "utf8", "none", "binary", "", "identity, ", " , ,", "AWS-Chunked,identity",
            "7bit", "8BIT", "utf-8, binary",
        ])
    func emptyEncoding(value: String) async throws {
        let answer = "HTTP/1.1 200 OK\r\nContent-Encoding: \(value)\r\nContent-Length: 3\r\n\r\nabc"
        #expect(try await code(Array(answer.utf8)) == nil)
    }

    @Test("An unasked gzip is refused with what came and what was asked for")
    func sentence() async throws {
        let origin = try BrokenOrigin(
            .answer("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc"))
        let failure = await #expect(throws: FetchFailure.self) {
            try await GuardedFetcher.ofLoopback().source(FetchRequest(url: origin.url(), lane: .fast))
        }
        #expect(
            failure?.description
                == "The origin sent \(origin.url()) with Content-Encoding: gzip, though the request accepts no encoding (Accept-Encoding: identity). Let the origin send the image as it is."
        )
    }

    /// `head`: what the 206 says of its body, which is `abc`, in one chunk where it has no length.
    @Test(
        "A 206 is taken if its one range is the whole body",
        arguments: [
            (["Content-Range: bytes 0-2/3", "Content-Length: 3"], nil),
            (["content-range:\tBytes 0-2/3", "Transfer-Encoding: chunked"], nil),
            (["Content-Range: bytes 0-2/3", "Content-Length: 3", "Content-Encoding: gzip"], "fetch.encoded"),
            (["Content-Range: bytes 0-2/4", "Content-Length: 3"], "fetch.status"),
            (["Content-Range: bytes 1-3/4", "Content-Length: 3"], "fetch.status"),
            (["Content-Range: bytes 0-2/*", "Content-Length: 3"], "fetch.status"),
            (["Content-Range: bytes 0-3/4", "Content-Length: 3"], "fetch.status"),
            (["Content-Range: bytes 0-2/3", "Content-Range: bytes 0-2/3", "Content-Length: 3"], "fetch.status"),
            (["Content-Type: multipart/byteranges; boundary=x", "Content-Length: 3"], "fetch.status"),
            (["Content-Length: 3"], "fetch.status"),
            (["Content-Range: bytes 0-3/4", "Transfer-Encoding: chunked"], "fetch.truncated"),
            (["Content-Range: bytes 0-1/2", "Transfer-Encoding: chunked"], "fetch.bad-response"),
            (["Content-Range: bytes 0--1/0", "Content-Length: 3"], "fetch.status"),
        ] as [([String], String?)])
    func wholeRange(head: [String], expected: String?) async throws {
        let isChunked = head.contains("Transfer-Encoding: chunked")
        let answer = "HTTP/1.1 206 Partial Content\r\n\(head.joined(separator: "\r\n"))\r\n\r\n"
        let body = isChunked ? Self.chunk(Array("abc".utf8)) + [13, 10] : Array("abc".utf8)
        #expect(try await code(Array(answer.utf8) + body) == expected)
    }

    @Test("Beside a bomb of 3 GiB behind every status, innocent fetches are not held up")
    func bomb() async throws {
        var configuration = OriginConfiguration.loopback
        // Decoding two of them takes the thread that serves all for longer.
        configuration.settings.deadlines.whole = .seconds(5)
        let fetcher = GuardedFetcher(configuration)
        let origin = try LocalOrigin()
        origin.serve("/", .bytes([1, 2, 3]))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for status in [200, 206, 302, 404, 500, 503] {
                for codings in [
                    "gzip, gzip, gzip, gzip, chunked", "chunked\r\nTransfer-Encoding: gzip, gzip, gzip, gzip",
                ] {
                    let head = "HTTP/1.1 \(status) Some\r\nTransfer-Encoding: \(codings)\r\n\r\n"
                    group.addTask {
                        let code = try await code(Array(head.utf8) + Self.chunk(Self.bomb) + [13, 10], fetcher)
                        #expect(code == "fetch.encoded")
                    }
                }
            }
            for _ in 0..<20 {
                group.addTask {
                    let source = try await fetcher.source(FetchRequest(url: origin.url("/"), lane: .fast))
                    #expect(source.body.length == 3)
                }
            }
            try await group.waitForAll()
        }
    }
}
