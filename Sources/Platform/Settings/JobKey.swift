package import KafkaSetup
internal import SettingTypes

/// A key that signs jobs: its id, and the place of its secret.
package struct JobKey: Sendable, Equatable, CustomStringConvertible {
    package enum Place: Sendable, Equatable {
        case file(String)
        case environment(String)
    }

    package let id: String
    package let place: Place
    /// The secret, once it was read; nil if it cannot be read, and `problem` has the reason.
    package internal(set) var secret: Secret?
    package internal(set) var problem: String?

    init(_ id: String, _ place: Place) { (self.id, self.place) = (id, place) }

    package var description: String {
        switch place {
        case .file(let path): "\(id): {file: \(path)}"
        case .environment(let name): "\(id): {environment: \(name)}"
        }
    }

    /// Shorter secrets can be guessed.
    static let leastBytes = 16

    mutating func read(_ environment: [String: String]) {
        do throws(SettingRefusal) {
            let text: String
            switch place {
            case .file(let path): text = try SecretFile.line(in: path)
            case .environment(let name):
                guard let said = environment[name]?.withoutLineEnd, said.isOneLine, !said.isEmpty else {
                    throw SettingRefusal("expected one line of text in the variable \(name).")
                }
                text = said
            }
            guard text.utf8.count >= Self.leastBytes else {
                throw SettingRefusal(
                    "the secret is shorter than \(Self.leastBytes) bytes. Create one with: openssl rand -hex 32")
            }
            secret = Secret(text)
        } catch { problem = error.message }
    }
}

extension SettingType where Value == [JobKey] {
    /// Keys in the order written: `{2026-11: {file: /run/secrets/jobs-2026-11}, 2026-05: {environment: JOBS_KEY}}`.
    static var jobKeys: Self {
        SettingType(
            expectation: "a map of key ids (letters, digits, dots, dashes) to {file: PATH} or {environment: NAME}",
            read: { node, folder in
                guard let entries = node.entries else { return nil }
                var keys: [JobKey] = []
                for entry in entries {
                    guard (1...64).contains(entry.key.utf8.count), entry.key.utf8.allSatisfy({ SettingName.has($0) }),
                        let place = entry.value.entries, place.count == 1,
                        case .scalar(let text) = place[0].value.content,
                        !text.isEmpty, !keys.contains(where: { $0.id == entry.key })
                    else { return nil }
                    switch place[0].key {
                    case "environment": keys.append(JobKey(entry.key, .environment(text)))
                    case "file":
                        let path = folder.map { text.hasPrefix("/") ? text : $0 + "/" + text } ?? text
                        keys.append(JobKey(entry.key, .file(path)))
                    default: return nil
                    }
                }
                return keys
            },
            // A user may have written the secret itself instead of its place.
            write: { "{" + $0.map(\.description).joined(separator: ", ") + "}" }, isSecret: true)
    }
}
