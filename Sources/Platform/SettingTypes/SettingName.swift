/// Names of settings and of librdkafka's options: letters, digits, dots, dashes and underscores.
package enum SettingName {
    package static func has(_ byte: UInt8) -> Bool {
        byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26 || [0x2D, 0x2E, 0x5F].contains(byte)
    }

    /// `MEZZOTINT_FETCH_BYTE_LIMIT` for `fetch.byteLimit`.
    package static func environmentName(of name: String) -> String {
        name.reduce(into: "MEZZOTINT_") { text, character in
            if character == "." { return text.append("_") }
            if character.isUppercase { text.append("_") }
            text += character.uppercased()
        }
    }

    /// The part of a name that may be shown to people: text after its first invalid byte may be a value.
    package static func shown(_ name: String) -> String {
        let plain = name.utf8.prefix { has($0) }
        return plain.count == name.utf8.count ? name : String(decoding: plain, as: UTF8.self) + "…"
    }
}
