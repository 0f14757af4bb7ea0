package import VariantSpec

extension Excerpt {
    /// A URL, cut to a length, without what may be a name and a password, and without hidden parameters.
    package static func url(_ bytes: [UInt8], hiding hidden: HiddenParameters = .wellKnown) -> String {
        quote(hidden.hide(in: withoutUser(bytes)))
    }

    /// Without everything before the last `@` of its host.
    ///
    /// A password may hold what ends a host (`http://me:a/b@h`), and a text may be no URL: after a colon that begins no
    /// port the last `@` of all counts.
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
