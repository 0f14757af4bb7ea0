package import SettingTypes

/// A row of the table of all settings.
package typealias SettingKey = SettingRow<Settings>

extension SettingKey {
    /// A setting of a group of hosts: `origins.cdn.hosts`.
    init<Value: Sendable>(
        _ group: String, _ name: String, _ place: any WritableKeyPath<Settings.Origins.Group, Value> & Sendable,
        _ type: SettingType<Value>, _ meaning: String
    ) {
        self.init(
            name: "origins.\(group).\(name)", meaning: meaning, expectation: type.expectation, isSecret: type.isSecret,
            text: { type.write($0.origins[group][keyPath: place]) },
            assign: { settings, node, folder throws(SettingRefusal) in
                guard let value = try type.read(node, folder) else { return false }
                settings.origins[group][keyPath: place] = value
                return true
            })
    }
}
