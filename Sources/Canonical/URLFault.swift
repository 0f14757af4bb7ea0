internal import Failures
internal import VariantSpec

/// What is wrong with a received URL.
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
    /// A parameter of a dialect whose value means nothing there.
    case parameter(name: String, value: String, expected: String)
    /// Part of a dialect, but not done by Mezzotint so far.
    case unsupported(String, instead: String)

    var entry: CodeEntry {
        switch self {
        case .empty: Self.codes.empty
        case .tooLong: Self.codes.tooLong
        case .notUTF8: Self.codes.notUTF8
        case .forbiddenByte: Self.codes.forbiddenByte
        case .badEscape: Self.codes.badEscape
        case .scheme: Self.codes.scheme
        case .userInfo: Self.codes.userInfo
        case .host: Self.codes.host
        case .shorthandAddress: Self.codes.shorthandAddress
        case .port: Self.codes.port
        case .parameter: Self.codes.parameter
        case .unsupported: Self.codes.unsupported
        }
    }

    var sentence: String {
        switch self {
        case .empty: "it is empty. Give an http or https URL."
        case .tooLong(let bytes, let limit):
            "it has \(bytes) bytes (received or in canonical form), over the limit of \(limit). Give a shorter URL."
        case .notUTF8: "it is not UTF-8. Percent-encode bytes that are no text."
        case .forbiddenByte(let byte, let at):
            "byte \(at) is \(Self.name(of: byte)), which no URL contains. Percent-encode it as %\(Byte.hexText(byte))."
        case .badEscape(let at):
            "the % at byte \(at) is not followed by two hexadecimal digits. Write a plain % as %25."
        case .scheme(let scheme):
            scheme.isEmpty
                ? "it does not begin with http:// or https://. Give the whole URL."
                : "its scheme is \(scheme). Only http:// and https:// are fetched."
        case .userInfo: "it carries a user name or password. Give the origin its credentials in another way."
        case .host(let host, let reason):
            host.isEmpty ? "it has no host. Write one after the two slashes." : "\(host) is no host name: \(reason)."
        case .shorthandAddress(let host):
            "\(host) looks like an IPv4 address, but not four decimal numbers of 0 to 255. Write it as 192.0.2.1 is written."
        case .port(let port): "\(port) is no port. Write a number from 1 to 65535."
        case .parameter(let name, let value, let expected):
            "its imageView parameter \(name)=\(value) means nothing. Write \(expected)."
        case .unsupported(let what, let instead): "\(what) is not done yet. \(instead)"
        }
    }

    private static func name(of byte: UInt8) -> String {
        switch byte {
        case Byte.space: "a space"
        case Byte.backslash: "a backslash"
        default: "the control byte \(Byte.hexText(byte))"
        }
    }

    private static let codes = (
        empty: CodeEntry("canonical.empty", "The URL is empty.", .deadLetter),
        tooLong: CodeEntry("canonical.too-long", "The URL is longer than allowed.", .deadLetter),
        notUTF8: CodeEntry("canonical.not-utf8", "The URL is not UTF-8.", .deadLetter),
        forbiddenByte: CodeEntry(
            "canonical.forbidden-byte", "The URL contains a control byte, a space or a backslash.", .deadLetter),
        badEscape: CodeEntry("canonical.bad-escape", "A % is not followed by two hexadecimal digits.", .deadLetter),
        scheme: CodeEntry("canonical.scheme", "The URL does not begin with http:// or https://.", .deadLetter),
        userInfo: CodeEntry("canonical.userinfo", "The URL carries a user name or password.", .deadLetter),
        host: CodeEntry("canonical.host", "The host is missing, or no host name.", .deadLetter),
        shorthandAddress: CodeEntry(
            "canonical.shorthand-address", "The host is an IPv4 address in an unusual spelling.", .deadLetter),
        port: CodeEntry("canonical.port", "The port is not a number from 1 to 65535.", .deadLetter),
        parameter: CodeEntry(
            "canonical.parameter", "A parameter of a transforming URL has a value that means nothing.", .deadLetter),
        unsupported: CodeEntry(
            "canonical.unsupported", "A transforming URL asks for something that is not done yet.", .deadLetter)
    )

    static let catalogue = [
        codes.empty, codes.tooLong, codes.notUTF8, codes.forbiddenByte, codes.badEscape, codes.scheme, codes.userInfo,
        codes.host, codes.shorthandAddress, codes.port, codes.parameter, codes.unsupported,
    ]
}
