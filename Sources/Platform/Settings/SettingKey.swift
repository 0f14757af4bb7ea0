/// One setting: its name, what it may be, and what it means.
package struct SettingKey: Sendable {
    /// As in the file, groups joined by dots: `fetch.byteLimit`.
    package let name: String
    package let meaning: String
    /// `a size from 1KiB to 4GiB`.
    package let expectation: String
    /// What was said is never quoted.
    package let isSecret: Bool
    /// The value that a `Settings` has, as it would be written; of a secret no more than that there is one.
    package let text: @Sendable (Settings) -> String
    /// Sets the value; false if the node is not what is expected.
    let assign: @Sendable (inout Settings, YAMLNode, _ folder: String?) throws(SettingRefusal) -> Bool

    init<Value: Sendable>(
        _ name: String, _ place: any WritableKeyPath<Settings, Value> & Sendable, _ type: SettingType<Value>,
        _ meaning: String
    ) {
        (self.name, self.meaning, expectation, isSecret) = (name, meaning, type.expectation, type.isSecret)
        text = { type.write($0[keyPath: place]) }
        assign = { settings, node, folder throws(SettingRefusal) in
            guard let value = try type.read(node, folder) else { return false }
            settings[keyPath: place] = value
            return true
        }
    }

    /// One of a group of hosts: `origins.cdn.hosts`.
    init<Value: Sendable>(
        _ group: String, _ name: String, _ place: any WritableKeyPath<Settings.Origins.Group, Value> & Sendable,
        _ type: SettingType<Value>, _ meaning: String
    ) {
        (self.name, self.meaning, expectation) = ("origins.\(group).\(name)", meaning, type.expectation)
        isSecret = type.isSecret
        text = { type.write($0.origins[group][keyPath: place]) }
        assign = { settings, node, folder throws(SettingRefusal) in
            guard let value = try type.read(node, folder) else { return false }
            settings.origins[group][keyPath: place] = value
            return true
        }
    }

    /// `MEZZOTINT_FETCH_BYTE_LIMIT` for `fetch.byteLimit`.
    package var environmentName: String {
        name.reduce(into: "MEZZOTINT_") { text, character in
            if character == "." { return text.append("_") }
            if character.isUppercase { text.append("_") }
            text += character.uppercased()
        }
    }
}
