/// One setting of `Root`: its name, what it may be, and what it means.
///
/// An adapter's rows live beside the adapter. `Settings.keys`, the one table, has them lifted.
package struct SettingRow<Root>: Sendable {
    /// As in the file, groups joined by dots: `fetch.byteLimit`.
    package let name: String
    package let meaning: String
    /// `a size from 1KiB to 4GiB`.
    package let expectation: String
    /// What was said is never quoted.
    package let isSecret: Bool
    /// The value that a root has, as it would be written; of a secret no more than that there is one.
    package let text: @Sendable (Root) -> String
    /// Sets the value; false if the node is not what is expected.
    package let assign: @Sendable (inout Root, YAMLNode, _ folder: String?) throws(SettingRefusal) -> Bool

    package init(
        name: String, meaning: String, expectation: String, isSecret: Bool, text: @escaping @Sendable (Root) -> String,
        assign: @escaping @Sendable (inout Root, YAMLNode, _ folder: String?) throws(SettingRefusal) -> Bool
    ) {
        (self.name, self.meaning, self.expectation, self.isSecret) = (name, meaning, expectation, isSecret)
        (self.text, self.assign) = (text, assign)
    }

    package init<Value: Sendable>(
        _ name: String, _ place: any WritableKeyPath<Root, Value> & Sendable, _ type: SettingType<Value>,
        _ meaning: String
    ) {
        self.init(
            name: name, meaning: meaning, expectation: type.expectation, isSecret: type.isSecret,
            text: { type.write($0[keyPath: place]) },
            assign: { root, node, folder throws(SettingRefusal) in
                guard let value = try type.read(node, folder) else { return false }
                root[keyPath: place] = value
                return true
            })
    }

    /// The same setting of a whole that has the root at a place.
    package func lifted<Whole>(to place: any WritableKeyPath<Whole, Root> & Sendable) -> SettingRow<Whole> {
        SettingRow<Whole>(
            name: name, meaning: meaning, expectation: expectation, isSecret: isSecret,
            text: { [text] in text($0[keyPath: place]) },
            assign: { [assign] whole, node, folder throws(SettingRefusal) in
                try assign(&whole[keyPath: place], node, folder)
            })
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
