internal import Canonical
internal import Clocks
internal import KafkaSetup
internal import Posix

/// What a setting's value may be: how it is read from a file or from text, how it is written, and what to say if wrong.
struct SettingType<Value: Sendable>: Sendable {
    /// For people, after "expected": `a size from 1KiB to 4GiB, such as 32MiB`. Its examples are accepted.
    let expectation: String
    /// nil if the node is no such value; thrown if it is one in form, and there is more to say about what is wrong.
    /// `folder` is where the file that says it stands; nil for flags and environment.
    let read: @Sendable (_ node: YAMLNode, _ folder: String?) throws(SettingRefusal) -> Value?
    let write: @Sendable (Value) -> String
    /// Whether no message may quote what was said: `write` decides what `config show` may.
    var isSecret = false

    /// From one unstructured word.
    static func scalar(
        _ expectation: String, _ read: @escaping @Sendable (String) -> Value?,
        write: @escaping @Sendable (Value) -> String
    ) -> Self {
        SettingType(
            expectation: expectation,
            read: { node, _ in
                guard case .scalar(let text) = node.content else { return nil }
                return read(text)
            }, write: write)
    }
}

extension SettingType where Value == Int {
    static func whole(_ range: ClosedRange<Int>) -> Self {
        scalar(
            "a whole number from \(range.lowerBound) to \(range.upperBound)",
            { text in
                Int(text.filter { $0 != "_" }).flatMap { range.contains($0) ? $0 : nil }
            }, write: { "\($0)" })
    }

    /// Bytes, written with a unit.
    static func size(_ range: ClosedRange<Int>) -> Self {
        measure("size", range, Units.bytes, examples: ["64KiB", "32MiB", "1GiB"], of: { $0 }, from: { $0 })
    }
}

extension SettingType where Value == Duration {
    static func duration(_ range: ClosedRange<Duration>) -> Self {
        measure(
            "duration", Int(range.lowerBound.milliseconds)...Int(range.upperBound.milliseconds), Units.time,
            examples: ["250ms", "10s", "5m", "2h", "7d"], of: { .milliseconds($0) }, from: { Int($0.milliseconds) })
    }
}

extension SettingType {
    /// A whole number with a unit of `table`.
    ///
    /// - Parameter examples: the message shows the examples that lie in `range`.
    fileprivate static func measure(
        _ noun: String, _ range: ClosedRange<Int>, _ table: Units.Table, examples: [String],
        of value: @escaping @Sendable (Int) -> Value, from number: @escaping @Sendable (Value) -> Int
    ) -> Self {
        let inside = examples.filter { Units.number($0, table).map(range.contains) ?? false }
        let bounds = "from \(Units.text(range.lowerBound, table)) to \(Units.text(range.upperBound, table))"
        let expectation = "a \(noun) \(bounds), such as \(inside.formattedAsChoice)"
        return SettingType(
            expectation: expectation,
            read: { node, _ throws(SettingRefusal) in
                guard case .scalar(let text) = node.content else { return nil }
                if let number = Units.number(text, table) { return range.contains(number) ? value(number) : nil }
                guard let flaw = Units.flaw(of: text, table) else { return nil }
                throw SettingRefusal("expected \(expectation), got \(node.brief), \(flaw).")
            }, write: { Units.text(number($0), table) })
    }
}

extension SettingType where Value == Double {
    static func number(_ range: ClosedRange<Double>) -> Self {
        scalar(
            "a number from \(range.lowerBound) to \(range.upperBound)",
            { text in
                Double(text).flatMap { range.contains($0) ? $0 : nil }
            }, write: { "\($0)" })
    }
}

extension SettingType where Value == ListenAddress? {
    static var listenAddress: Self {
        scalar(
            "an IP address (not a host name) and a port, such as 127.0.0.1:9464 or [::1]:9464, or nothing",
            { text in text.isEmpty ? .some(nil) : ListenAddress(text).map { .some($0) } },
            write: { $0?.description ?? "" })
    }
}

extension SettingType where Value == Bool {
    static var flag: Self {
        scalar("true or false", { ["true": true, "false": false][$0] }, write: { "\($0)" })
    }
}

extension SettingType where Value == FileMode {
    static var fileMode: Self {
        scalar(
            "an octal file mode that lets the owner read and write and nobody execute, such as 0644 or 0640",
            { FileMode($0) }, write: { $0.description })
    }
}

extension SettingType where Value: RawRepresentable<String> & CaseIterable {
    /// One of the cases, by its own text.
    static var choice: Self {
        scalar(
            "one of " + Value.allCases.map(\.rawValue).joined(separator: ", "), { Value(rawValue: $0) },
            write: \.rawValue)
    }
}

extension SettingType where Value == String {
    static func choice(_ values: [String]) -> Self {
        scalar("one of " + values.joined(separator: ", "), { values.contains($0) ? $0 : nil }, write: { $0 })
    }

    /// Text that may stand in an HTTP header or a message.
    static var line: Self {
        scalar(
            "printable text on one line",
            { text in
                !text.isEmpty && text.utf8.allSatisfy { (32..<127).contains($0) } ? text : nil
            }, write: { $0 })
    }

    /// Any text without control characters; may be empty.
    static var text: Self { scalar("text on one line", { $0.isOneLine ? $0 : nil }, write: { $0 }) }

    /// A collector's URL, or nothing. Its query may hold a secret: it is sent, and not shown.
    static var collector: Self {
        SettingType(
            expectation:
                "a URL that begins with http:// or https:// and names a host, such as http://127.0.0.1:4318/v1/traces, or nothing",
            read: { node, _ throws(SettingRefusal) in
                guard case .scalar(let text) = node.content, text.isOneLine else { return nil }
                guard !ShownURL(text).description.contains("…@") else {
                    throw SettingRefusal(
                        "names a user before the host (user:password@), which is not sent. Leave that out, and let the collector listen where the worker alone reaches it."
                    )
                }
                return text.isEmpty || isHTTP(text) ? text : nil
            }, write: { ShownURL($0).withoutQuery }, isSecret: true)
    }

    private static func isHTTP(_ text: String) -> Bool {
        guard let scheme = ["http://", "https://"].first(where: { text.lowercased().hasPrefix($0) }) else {
            return false
        }
        let host = text.dropFirst(scheme.count).prefix { !"/?#".contains($0) }
        let hasPort = host.contains(":") && !host.hasSuffix("]")
        return WorkerAddress(hasPort ? String(host) : host + ":80") != nil && !text.contains(" ")
    }

    /// A place in the file system. In a file it is relative to that file's folder, else to the working directory.
    static func path(allowsEmpty: Bool) -> Self {
        SettingType(
            expectation: "a path",
            read: { node, folder in
                guard case .scalar(let text) = node.content, allowsEmpty || !text.isEmpty, !text.utf8.contains(0) else {
                    return nil
                }
                guard let folder, !text.isEmpty, !text.hasPrefix("/") else { return text }
                return folder + "/" + text
            }, write: { $0 })
    }
}

extension SettingType {
    /// In a file as a list; in one line of text, divided by commas.
    static func list<Element: Sendable & CustomStringConvertible>(
        of expectation: String, _ element: @escaping @Sendable (String) -> Element?
    ) -> Self where Value == [Element] {
        SettingType(
            expectation: "a list of \(expectation)",
            read: { node, _ in
                guard let words = node.words else { return nil }
                let elements = words.compactMap(element)
                return elements.count == words.count ? elements : nil
            }, write: { "[" + $0.map(\.description).joined(separator: ", ") + "]" })
    }
}

extension SettingType where Value == [String] {
    /// Names of query parameters.
    static var parameterNames: Self {
        SettingType(
            expectation: "a list of query parameter names",
            read: { node, _ throws(SettingRefusal) in
                guard let words = node.words, !words.contains("") else { return nil }
                if let refusal = refusal(ofNames: words) { throw refusal }
                return words
            }, write: { "[" + $0.joined(separator: ", ") + "]" })
    }

    /// Places in the file system, each as `path`.
    static var paths: Self {
        SettingType(
            expectation: "a list of paths",
            read: { node, folder throws(SettingRefusal) in
                guard let words = node.words else { return nil }
                var paths: [String] = []
                for word in words {
                    guard
                        let path = try SettingType<String>.path(allowsEmpty: false).read(
                            YAMLNode(.scalar(word)), folder)
                    else { return nil }
                    paths.append(path)
                }
                return paths
            }, write: { "[" + $0.joined(separator: ", ") + "]" })
    }
}

extension SettingType {
    /// What is wrong with the first name that is none of a query parameter, without its value: that may be a signature.
    fileprivate static func refusal(ofNames names: [String]) -> SettingRefusal? {
        names.lazy.compactMap { name in
            HostAliasGroup.fault(inParameterName: name).map { fault in
                let end = name.firstIndex(of: "=")
                return SettingRefusal("'\(end.map { name[...$0] + "…" } ?? name[...])' \(fault).")
            }
        }.first
    }
}

extension SettingType where Value == Secret {
    /// Like text, and never shown.
    static var secret: Self {
        var type = scalar(
            "text on one line", { $0.isOneLine ? Secret($0) : nil }, write: { $0.description })
        type.isSecret = true
        return type
    }
}

extension SettingType where Value == [String: Secret] {
    /// `{linger.ms: 5, broker.address.family: v4}`. Values are shown where that is known to be harmless.
    static var options: Self {
        SettingType(
            expectation: "a map of names to text, such as {linger.ms: 5}",
            read: { node, _ in
                node.entries?.reduce(into: Optional([:])) { texts, entry in
                    // `{password:x}` without a space is one name, which would be shown.
                    let isName = entry.key.utf8.allSatisfy { SettingName.has($0) }
                    if isName, case .scalar(let text) = entry.value.content {
                        texts?[entry.key] = Secret(text)
                    } else {
                        texts = nil
                    }
                }
            },
            write: { texts in
                let pairs = texts.sorted { $0.key < $1.key }.map { name, text in
                    "\(name): " + (KafkaConfiguration.isShown(option: name) ? text.revealed : text.description)
                }
                return "{" + pairs.joined(separator: ", ") + "}"
            }, isSecret: true)
    }
}

extension SettingType where Value == [HostAliasGroup] {
    /// `{shop: {hosts: [a.example, b.example], mergeSchemes: true, volatile: [sig]}}`.
    static var aliasGroups: Self {
        SettingType(
            expectation: "a map of group names to {hosts: […], mergeSchemes: true or false, volatile: […]}",
            read: { node, _ throws(SettingRefusal) in
                guard let entries = node.entries else { return nil }
                var groups: [HostAliasGroup] = []
                for entry in entries { groups.append(try aliasGroup(entry)) }
                guard let problem = CanonicalRules(aliasGroups: groups).problems.first else { return groups }
                throw SettingRefusal(problem)
            },
            write: { groups in
                let texts = groups.map { group in
                    "\(group.id): {hosts: [\(group.hosts.joined(separator: ", "))], mergeSchemes: \(group.mergesSchemes), "
                        + "volatile: [\(group.volatileParameters.joined(separator: ", "))]}"
                }
                return "{" + texts.joined(separator: ", ") + "}"
            })
    }

    private static func aliasGroup(_ entry: YAMLNode.Entry) throws(SettingRefusal) -> HostAliasGroup {
        var (hosts, volatile, mergesSchemes): ([String], [String], Bool) = ([], [], false)
        for field in entry.value.entries ?? [] {
            switch (field.key, field.value.words) {
            case ("hosts", let words?): hosts = words
            case ("volatile", let words?): volatile = words
            case ("mergeSchemes", ["true"]): mergesSchemes = true
            case ("mergeSchemes", ["false"]): mergesSchemes = false
            default: throw SettingRefusal("the group \(entry.key) has no use for \(field.key): \(field.value.brief).")
            }
        }
        if let refusal = refusal(ofNames: volatile) {
            throw SettingRefusal("in the group \(entry.key), volatile: \(refusal.message)")
        }
        guard !entry.key.isEmpty, !hosts.isEmpty else {
            throw SettingRefusal("the group '\(entry.key)' lists no hosts.")
        }
        do throws(CanonicalFailure) {
            return try HostAliasGroup(
                id: entry.key, hosts: hosts, mergesSchemes: mergesSchemes, volatileParameters: volatile)
        } catch {
            throw SettingRefusal("in the group \(entry.key): \(error)")
        }
    }
}

extension String {
    var isOneLine: Bool { utf8.allSatisfy { $0 >= 32 && $0 != 127 } }
}

extension [String] {
    /// `a, b or c`
    var formattedAsChoice: String {
        count < 2 ? joined() : dropLast().joined(separator: ", ") + " or " + self[count - 1]
    }
}

/// What is wrong with a value, where "expected this, got that" would not say it.
struct SettingRefusal: Error {
    let message: String
    init(_ message: String) { self.message = message }
}
