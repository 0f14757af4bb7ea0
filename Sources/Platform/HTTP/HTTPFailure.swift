/// A time limit of one transfer.
package enum HTTPPhase: String, Sendable, Hashable {
    case resolving = "finding the address"
    case connecting
    case waiting = "waiting for the head of the response"
    case whole = "the transfer as a whole"
    case flow = "the body came too slowly"
}

/// The reason why a transfer gave no complete response.
package enum HTTPFailure: Error, Hashable, CustomStringConvertible {
    case invalidURL
    /// The address check refused the address of a new connection.
    case refusedAddress(String)
    case unresolved
    case connection(reason: String)
    /// The server's certificate cannot be verified.
    case untrusted
    case deadline(HTTPPhase)
    /// The body ended before its declared length.
    case truncated
    /// Status line, headers and trailers exceed the limit, in bytes.
    case headTooLarge(limit: Int)
    /// The response is not HTTP.
    case malformed(reason: String)
    /// The response has a coding that was not requested; with its header.
    case encoded(String)
    /// The sink refused further bytes.
    case ended
    case cancelled

    package var description: String {
        switch self {
        case .invalidURL: "libcurl does not accept the URL. Check its spelling."
        case .refusedAddress(let address): "The address \(address) is refused by the caller's check. Allow it there."
        case .unresolved: "The host has no address now. Check the name and the resolver."
        case .connection(let reason): "The connection failed: \(reason). Try again later."
        case .untrusted: "The server's certificate cannot be verified. Check its name, its dates and who signed it."
        case .deadline(let phase): "It took too long: \(phase.rawValue). Try again later, or raise the deadline."
        case .truncated: "The body ended before its length. Try again."
        case .headTooLarge(let limit): "The headers are over \(limit) bytes. Correct the server."
        case .malformed(let reason): "The response is not valid HTTP: \(reason). Correct the server."
        case .encoded(let coding): "The response has \(coding), which was not requested. Correct the server."
        case .ended: "The receiver wanted no more of the body."
        case .cancelled: "The transfer was given up."
        }
    }
}
