package import Failures
internal import VariantSpec

/// Mistake in a received URL.
package enum URLFault: Error, Sendable, Hashable {
    case empty
    case tooLong(bytes: Int, limit: Int)
    case notUTF8
    case forbiddenByte(UInt8, at: Int)
    case badEscape(at: Int)
    case scheme(String)
    case userInfo
    case host(String, reason: String)
    case shorthandAddress(String)
    case port(String)
    /// A dialect's parameter whose value has no meaning.
    case parameter(of: URLDialect, name: String, value: String, expected: String)
    /// A part of a dialect that Mezzotint does not support yet.
    case unsupported(String, instead: String)

    package var kind: Code {
        switch self {
        case .empty: .empty
        case .tooLong: .tooLong
        case .notUTF8: .notUTF8
        case .forbiddenByte: .forbiddenByte
        case .badEscape: .badEscape
        case .scheme: .scheme
        case .userInfo: .userInfo
        case .host: .host
        case .shorthandAddress: .shorthandAddress
        case .port: .port
        case .parameter: .parameter
        case .unsupported: .unsupported
        }
    }

    var sentence: String {
        switch self {
        case .empty: "it is empty. Give an http or https URL."
        case .tooLong(let bytes, let limit):
            "it has \(bytes) bytes (received or in canonical form), over the limit of \(limit). Give a shorter URL."
        case .notUTF8: "it is not UTF-8. Percent-encode the bytes that are not text."
        case .forbiddenByte(let byte, let at):
            "byte \(at) is \(Self.name(of: byte)), which no URL contains. Percent-encode it as %\(Byte.hexText(byte))."
        case .badEscape(let at):
            "the % at byte \(at) is not followed by two hexadecimal digits. Write a plain % as %25."
        case .scheme(let scheme):
            scheme.isEmpty
                ? "it does not begin with http:// or https://. Give the whole URL."
                : "its scheme is \(scheme). Only http:// and https:// are fetched."
        case .userInfo:
            "credentials in URLs are not allowed (a user name or password before the host). Put them into origins.NAME.headers."
        case .host(let host, let reason):
            host.isEmpty ? "it has no host. Write one after the two slashes." : "\(host) is not a host name: \(reason)."
        case .shorthandAddress(let host):
            "\(host) looks like an IPv4 address, but not four decimal numbers of 0 to 255. Write it as 192.0.2.1 is written."
        case .port(let port): "\(port) is not a port. Write a number from 1 to 65535."
        case .parameter(let dialect, let name, let value, let expected):
            "its \(dialect.rawValue) parameter \(name)=\(value) is invalid. Write \(expected)."
        case .unsupported(let what, let instead): "\(what) is not supported yet. \(instead)"
        }
    }

    private static func name(of byte: UInt8) -> String {
        switch byte {
        case Byte.space: "a space"
        case Byte.backslash: "a backslash"
        default: "the control byte \(Byte.hexText(byte))"
        }
    }

    package enum Code: String, FailureCode {
        case empty = "canonical.empty"
        case tooLong = "canonical.too-long"
        case notUTF8 = "canonical.not-utf8"
        case forbiddenByte = "canonical.forbidden-byte"
        case badEscape = "canonical.bad-escape"
        case scheme = "canonical.scheme"
        case userInfo = "canonical.userinfo"
        case host = "canonical.host"
        case shorthandAddress = "canonical.shorthand-address"
        case port = "canonical.port"
        case parameter = "canonical.parameter"
        case unsupported = "canonical.unsupported"

        package var meaning: String {
            switch self {
            case .empty: "The URL is empty."
            case .tooLong: "The URL is longer than allowed."
            case .notUTF8: "The URL is not UTF-8."
            case .forbiddenByte: "The URL contains a control byte, a space or a backslash."
            case .badEscape: "A % is not followed by two hexadecimal digits."
            case .scheme: "The URL does not begin with http:// or https://."
            case .userInfo: "The URL carries a user name or password."
            case .host: "The host is missing, or is not a host name."
            case .shorthandAddress: "The host is an IPv4 address in an unusual spelling."
            case .port: "The port is not a number from 1 to 65535."
            case .parameter: "A parameter of a transform URL has an invalid value."
            case .unsupported: "A transform URL asks for an operation that is not supported yet."
            }
        }

        package var verdict: Verdict { .deadLetter }
    }
}
