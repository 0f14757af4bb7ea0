import Access
import HTTP
import Origin
import Ports
import Posix
import Testing

enum Bytes {
    /// So many bytes that no part of repeats soon.
    static func pattern(_ count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { out, filled in
            var word: UInt32 = 1
            for i in 0..<count {
                word = word &* 1_664_525 &+ 1_013_904_223
                out[i] = UInt8(truncatingIfNeeded: word >> 24)
            }
            filled = count
        }
    }
}

extension OriginConfiguration {
    /// The guard lets exactly the address of the tests' origins through.
    static var loopback: OriginConfiguration {
        var configuration = OriginConfiguration()
        configuration.settings.access.addresses.allow = [AddressRange("127.0.0.1/32")!]
        return configuration
    }
}

extension GuardedFetcher {
    static func ofLoopback() -> GuardedFetcher { GuardedFetcher(.loopback) }

    /// The whole of a source, of which nothing is known.
    func source(_ request: FetchRequest) async throws(FetchFailure) -> FetchedSource {
        guard case .source(let source) = try await follow(request) else {
            Issue.record("304 to a request without conditions")
            throw .cancelled
        }
        return source
    }

    /// The answer at the end of all redirects.
    func follow(_ request: FetchRequest) async throws(FetchFailure) -> FetchResponse {
        let answer = try await fetch(request)
        guard case .redirected(let next) = answer else { return answer }
        return try await follow(
            FetchRequest(url: request.url, lane: request.lane, known: request.known, redirect: next))
    }
}
