package import VariantSpec

extension Excerpt {
    /// A shortened URL without credentials and without hidden parameters.
    package static func url(_ bytes: [UInt8], hiding hidden: HiddenParameters = .wellKnown) -> String {
        quote(hidden.hide(in: withoutUser(bytes)))
    }

    /// The text without everything before the last `@` of its host.
    ///
    /// A password may contain a character that ends a host (`http://me:a/b@h`), and a text may not be a URL at all. If
    /// a colon is followed by something other than a port, the last `@` of the whole text counts.
    static func withoutUser(_ bytes: [UInt8]) -> [UInt8] {
        let slashes = bytes.indices.dropLast().first { bytes[$0] == Byte.slash && bytes[$0 + 1] == Byte.slash }
        let hasScheme =
            slashes.map { $0 == 0 || bytes[$0 - 1] == Byte.colon && !bytes[..<$0].contains(Byte.at) } ?? false
        let start = hasScheme ? slashes! + 2 : 0
        let end = bytes[start...].firstIndex { Byte.endsAuthority($0) } ?? bytes.count
        let host = bytes[start..<end]
        let isOdd = hasScheme ? !endsInPort(host) : bytes.contains(Byte.colon)
        let at = host.lastIndex(of: Byte.at) ?? (isOdd ? bytes[start...].lastIndex(of: Byte.at) : nil)
        guard let at else { return bytes }
        return bytes[..<start] + Array("…".utf8) + bytes[at...]
    }

    private static func endsInPort(_ host: ArraySlice<UInt8>) -> Bool {
        guard let colon = host.lastIndex(of: Byte.colon), host.last != Byte.rightBracket else { return true }
        return host[(colon + 1)...].allSatisfy(Byte.isDigit)
    }
}
