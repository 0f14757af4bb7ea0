package import CommandLine
internal import Glibc
internal import SettingTypes

/// The settings after all layers, with the origin of each value.
package struct LoadedSettings: Sendable {
    package let settings: Settings
    package let origins: [String: SettingOrigin]
    /// Variables that are named like settings of a group, but match none, and that no setting reads.
    package let ignoredVariables: [String]

    package func origin(of key: SettingKey) -> SettingOrigin { origins[key.name] ?? .standard }
}

extension Settings {
    /// Loads settings: `--config` and `--set` of a command line, over the environment, over the file, over the
    /// defaults.
    ///
    /// - Parameter inspect: finds problems beyond the form of values, by key.
    package static func loaded(
        _ arguments: ParsedArguments, inspect: (Settings) -> [(key: String, message: String)]
    ) throws(SettingsFailure) -> LoadedSettings {
        try loaded(
            file: arguments.value("config"), environment: currentEnvironment(), assignments: arguments.values("set"),
            inspect: inspect)
    }

    /// Loads all layers; reports the problems of all of them at once.
    ///
    /// - Parameter file: path in `--config`; nil: the path in `MEZZOTINT_CONFIG`, if any.
    package static func loaded(
        file: String?, environment: [String: String], assignments: [String],
        inspect: (Settings) -> [(key: String, message: String)] = { _ in [] }
    ) throws(SettingsFailure) -> LoadedSettings {
        var reader = SettingsReader()
        let variable = "MEZZOTINT_CONFIG"
        let origin = file == nil ? SettingOrigin.environment(variable) : .flag("--config")
        if let file = file ?? environment[variable]?.withoutLineEnd {
            do {
                reader.read(file: file, try contents(of: file, namedBy: origin))
            } catch {
                throw SettingsFailure(problems: [error])
            }
        }
        reader.read(environment: environment)
        for assignment in assignments { reader.read(assignment: assignment) }
        reader.finish(inspect)
        guard reader.problems.isEmpty else { throw SettingsFailure(problems: reader.problems) }
        let named = reader.settings.secretVariables
        return LoadedSettings(
            settings: reader.settings, origins: reader.origins,
            ignoredVariables: reader.ignoredVariables.filter { !named.contains($0) })
    }

    /// Reads a file. It follows links, because clusters mount files as links.
    private static func contents(of path: String, namedBy origin: SettingOrigin) throws(SettingProblem) -> [UInt8] {
        func problem(_ reason: String) -> SettingProblem {
            SettingProblem(
                origin: origin, key: nil,
                message: "the settings file \(path) cannot be read: \(reason). Check the path given to \(origin).")
        }
        guard let file = fopen(path, "re") else { throw problem(String(cString: strerror(errno))) }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = fread(&bytes, 1, bytes.count, file)
        guard ferror(file) == 0 else { throw problem(String(cString: strerror(errno))) }
        guard count < bytes.count else { throw problem("it is larger than 1 MiB") }
        return Array(bytes[..<count])
    }

    /// The environment at the process's start; reading `environ` itself is not safe in Swift 6.
    private static func currentEnvironment() -> [String: String] {
        guard let file = fopen("/proc/self/environ", "re") else { return [:] }
        defer { fclose(file) }
        var (bytes, chunk) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 16))
        while case let count = fread(&chunk, 1, chunk.count, file), count > 0 { bytes += chunk[..<count] }
        return bytes.split(separator: 0).reduce(into: [:]) { variables, entry in
            guard let crop = entry.firstIndex(of: UInt8(ascii: "=")) else { return }
            variables[String(decoding: entry[..<crop], as: UTF8.self)] = String(
                decoding: entry[(crop + 1)...], as: UTF8.self)
        }
    }
}
