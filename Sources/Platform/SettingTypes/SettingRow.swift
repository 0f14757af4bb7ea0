/// One setting of `Root`: its name, its type, and its meaning.
///
/// An adapter's rows live next to the adapter. `Settings.keys`, the table of all settings, contains them lifted.
package struct SettingRow<Root>: Sendable {
    /// Name as in the file, groups joined by dots: `fetch.byteLimit`.
    package let name: String
    package let meaning: String
    /// Expected values, such as `a size from 1KiB to 4GiB`.
    package let expectation: String
    /// Whether the value is never quoted.
    package let isSecret: Bool
    /// The value in a root as text; for a secret only whether it is set.
    package let text: @Sendable (Root) -> String
    /// Sets the value; false if the node is not as expected.
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

    /// The same setting, in a whole that contains the root.
    package func lifted<Whole>(to place: any WritableKeyPath<Whole, Root> & Sendable) -> SettingRow<Whole> {
        SettingRow<Whole>(
            name: name, meaning: meaning, expectation: expectation, isSecret: isSecret,
            text: { [text] in text($0[keyPath: place]) },
            assign: { [assign] whole, node, folder throws(SettingRefusal) in
                try assign(&whole[keyPath: place], node, folder)
            })
    }

    /// Environment variable, such as `MEZZOTINT_FETCH_BYTE_LIMIT` for `fetch.byteLimit`.
    package var environmentName: String { SettingName.environmentName(of: name) }
}
