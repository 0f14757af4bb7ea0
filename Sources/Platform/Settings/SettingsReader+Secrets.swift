internal import Glibc
internal import KafkaSetup
internal import SettingTypes

/// Reads the files and variables that settings name, after all layers.
extension SettingsReader {
    mutating func readSecretFiles() {
        readPassword()
        readOptions()
        for place in settings.origins.groups.indices { readHeaders(of: place) }
        for place in settings.jobs.keys.indices { settings.jobs.keys[place].read(environment) }
        if !settings.jobs.sign.isEmpty, !settings.jobs.keys.contains(where: { $0.id == settings.jobs.sign }) {
            note("jobs.sign", "jobs.keys has no key '\(settings.jobs.sign)'.")
        }
    }

    private mutating func readHeaders(of group: Int) {
        let name = "origins.\(settings.origins.groups[group].name).headers"
        for place in settings.origins.groups[group].headers.indices {
            do throws(SettingRefusal) { try settings.origins.groups[group].headers[place].read(environment) } catch {
                note(name, error.message)
            }
        }
    }

    private mutating func readPassword() {
        let (path, name) = (settings.kafka.security.passwordFile, "kafka.security.passwordFile")
        guard !path.isEmpty else { return }
        guard settings.kafka.security.password.isEmpty else {
            return note(name, "cannot be set together with kafka.security.password: keep one of them.")
        }
        do throws(SettingRefusal) {
            settings.kafka.security.password = try Secret(SecretFile.line(in: path))
            origins["kafka.security.password"] = .file(path, line: 1)
        } catch { note(name, error.message) }
    }

    private mutating func readOptions() {
        let (path, name) = (settings.kafka.optionsFile, "kafka.optionsFile")
        guard !path.isEmpty else { return }
        do throws(SettingRefusal) {
            let (root, flaws) = YAMLNode.parse(try SecretFile.bytes(in: path))
            let type = SettingType<[String: Secret]>.options
            guard flaws.isEmpty, let root, let options = try type.read(root.withoutLineEnds, nil) else {
                throw SettingRefusal("expected \(type.expectation), in \(path). Its content is not shown.")
            }
            settings.kafka.options.merge(options) { said, _ in said }
        } catch { note(name, error.message) }
    }

    private mutating func note(_ name: String, _ message: String) {
        problems.append(SettingProblem(origin: origins[name] ?? .standard, key: name, message: message))
    }
}

extension Settings {
    /// The variables that settings name for their secrets.
    var secretVariables: Set<String> {
        var names: Set<String> = []
        for key in jobs.keys { if case .environment(let name) = key.place { names.insert(name) } }
        for header in origins.groups.flatMap(\.headers) {
            if case .environment(let name) = header.place { names.insert(name) }
        }
        return names
    }
}

/// A file that contains a secret. No message quotes its content.
enum SecretFile {
    private static let limit = 64 << 10

    /// Its only line, without the line end.
    static func line(in path: String) throws(SettingRefusal) -> String {
        let bytes = try bytes(in: path)
        guard let text = String(validating: bytes, as: UTF8.self)?.withoutLineEnd, !text.isEmpty, text.isOneLine else {
            throw SettingRefusal("expected one line of text in \(path). Its content is not shown.")
        }
        return text
    }

    /// Reads a file. It follows links, because clusters mount files as links.
    static func bytes(in path: String, limit: Int = limit) throws(SettingRefusal) -> [UInt8] {
        guard let file = fopen(path, "re") else { throw unreadable(path, errno) }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: limit + 1)
        let count = fread(&bytes, 1, bytes.count, file)
        guard ferror(file) == 0 else { throw unreadable(path, errno) }
        guard count <= limit else { throw SettingRefusal("\(path) is larger than \(limit >> 10) KiB.") }
        return Array(bytes[..<count])
    }

    private static func unreadable(_ path: String, _ code: CInt) -> SettingRefusal {
        let step =
            switch code {
            case ENOENT, ENOTDIR: " Correct the path, or create the file."
            case EACCES, EPERM: " Let this program's user read the file, and enter the directories above it."
            case EISDIR: " Name a file in it."
            default: ""
            }
        return SettingRefusal("cannot read \(path): \(String(cString: strerror(code))).\(step)")
    }
}
