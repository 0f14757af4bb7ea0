internal import VariantSpec

/// Names of query parameters that are hidden in logs and messages: parameters that sign a URL or grant access, and the
/// installation's volatile parameters.
package struct HiddenParameters: Sendable, Hashable {
    /// Names in lower case, unescaped.
    private let names: Set<[UInt8]>
    /// For each length of a name, the first bytes of the names of that length. This rules out nearly all parameters at
    /// almost no cost.
    private let beginnings: [UInt64]

    /// The signing parameters of object stores and content networks, and the usual names of tokens.
    package static let wellKnown = HiddenParameters([])

    package init(_ volatile: [String]) {
        names = Set((Self.known + volatile).map { Self.plain(Array($0.utf8)[...]) })
        var beginnings: [UInt64] = []
        for name in names {
            while beginnings.count <= name.count { beginnings.append(0) }
            beginnings[name.count] |= Self.mark(name.first)
        }
        self.beginnings = beginnings
    }

    private static let known = [
        // Both signatures of S3 and its compatible stores; Google, Azure, Alibaba, Tencent, NetEase.
        "X-Amz-Signature", "X-Amz-Credential", "X-Amz-Security-Token", "AWSAccessKeyId", "Signature",
        "X-Goog-Signature",
        "X-Goog-Credential", "GoogleAccessId", "sig", "OSSAccessKeyId", "security-token", "x-oss-signature",
        "x-oss-credential", "x-oss-security-token", "q-signature", "q-ak", "x-cos-security-token", "NOSAccessKeyId",
        // Akamai; CloudFront, in addition to Signature; content networks of Alibaba, Tencent, Huawei.
        "hdnea", "hdnts", "__token__", "Policy", "auth_key",
        "token", "access_token", "auth", "auth_token", "authorization", "api_key", "apikey", "secret", "client_secret",
        "password", "passwd", "pwd", "sign", "hmac", "jwt", "session", "sessionid",
    ]

    /// Replaces such parameters by an ellipsis, in the query and in the fragment of every URL in a text.
    package func hide(in text: String) -> String {
        if text.utf8.withContiguousStorageIfAvailable({ mayHide(in: $0) }) == false { return text }
        let bytes = Array(text.utf8)
        let shown = hide(in: bytes)
        return shown == bytes ? text : String(decoding: shown, as: UTF8.self)
    }

    /// Whether a parameter may have to be hidden, judged by the lengths and first bytes of names. False is certain.
    private func mayHide(in bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var place = 0
        while place < bytes.count {
            let begins = Self.begins(bytes[place])
            place += 1
            guard begins else { continue }
            let start = place
            while place < bytes.count, !Self.begins(bytes[place]), !Self.ends(bytes[place]), bytes[place] != Byte.equals
            {
                // An escaped name may have any length and first byte.
                if bytes[place] == Byte.percent { return true }
                place += 1
            }
            let length = place - start
            if length < beginnings.count, beginnings[length] & Self.mark(length > 0 ? bytes[start] : nil) != 0 {
                return true
            }
        }
        return false
    }

    private static func mark(_ first: UInt8?) -> UInt64 { 1 << UInt64(first.map { Byte.lowered($0) & 63 } ?? 0) }

    func hide(in bytes: [UInt8]) -> [UInt8] {
        var shown: [UInt8] = []
        shown.reserveCapacity(bytes.count)
        var (place, wasHidden) = (0, false)
        while place < bytes.count {
            guard Self.begins(bytes[place]) else {
                shown.append(bytes[place])
                (place, wasHidden) = (place + 1, false)
                continue
            }
            let start = place + 1
            let end = bytes[start...].firstIndex { Self.begins($0) || Self.ends($0) } ?? bytes.count
            let name = bytes[start..<end].prefix { $0 != Byte.equals }
            let isHidden = names.contains(Self.plain(name))
            if !isHidden {
                shown += bytes[place..<end]
            } else if !wasHidden {
                shown.append(bytes[place])
                shown += "…".utf8
            }
            (place, wasHidden) = (end, isHidden)
        }
        return shown
    }

    private static func begins(_ byte: UInt8) -> Bool {
        byte == Byte.question || byte == Byte.ampersand || byte == Byte.hash || byte == UInt8(ascii: ";")
    }

    /// Whether a byte occurs in no URL, so that it ends a URL in a sentence.
    private static func ends(_ byte: UInt8) -> Bool {
        byte <= Byte.space || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "<") || byte == UInt8(ascii: ">")
    }

    private static func plain(_ name: ArraySlice<UInt8>) -> [UInt8] {
        var (plain, rest) = ([UInt8](), name)
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2,
                rest.prefix(2).allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }),
                let escaped = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                plain.append(Byte.lowered(escaped))
                rest = rest.dropFirst(2)
            } else {
                plain.append(Byte.lowered(byte))
            }
        }
        return plain
    }
}
