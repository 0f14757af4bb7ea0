internal import Canonical
internal import Clocks
internal import CommandLine
internal import EmbeddedLog
internal import HTTP
internal import Origin
internal import Posix
internal import SettingTypes

/// Applies values over the defaults, layer by layer, and collects problems.
struct SettingsReader: Sendable {
    var settings = Settings()
    var origins: [String: SettingOrigin] = [:]
    var problems: [SettingProblem] = []
    /// Environment, for secrets whose settings name a variable.
    private(set) var environment: [String: String] = [:]
    /// Variables that are named like settings of a group, but match none.
    private(set) var ignoredVariables: [String] = []
    private static let set = SettingOrigin.flag("--set")

    mutating func read(file path: String, _ bytes: [UInt8]) {
        let (root, flaws) = YAMLNode.parse(bytes)
        for flaw in flaws { note(.file(path, line: flaw.line), nil, flaw.message) }
        guard let root else { return }
        guard let entries = root.entries else {
            return note(.file(path, line: root.line), nil, "it must be a map of keys to values.")
        }
        let folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) }
        var seen: [String: Int] = [:]
        read(entries, below: "", path, folder ?? ".", &seen)
    }

    private mutating func read(
        _ entries: [YAMLNode.Entry], below prefix: String, _ path: String, _ folder: String, _ seen: inout [String: Int]
    ) {
        var here: Set<String> = []
        for entry in entries {
            let (name, origin) = (prefix + entry.key, SettingOrigin.file(path, line: entry.line))
            if Settings.key(name) != nil {
                // The parser detects repeats within one map; this key appears once with dots and once nested.
                if let line = seen[name], !here.contains(name) {
                    note(origin, name, "this key appears twice, first on line \(line); keep one.")
                }
                here.insert(name)
                seen[name] = entry.line
                assign(name, entry.value, origin, folder: folder)
            } else if Settings.keys.contains(where: { $0.name.hasPrefix(name + ".") }) {
                if let inner = entry.value.entries {
                    read(inner, below: name + ".", path, folder, &seen)
                } else {
                    let hasSecret = Settings.keys.contains { $0.isSecret && $0.name.hasPrefix(name + ".") }
                    note(origin, name, Self.expected("a group of keys", entry.value, isSecret: hasSecret))
                }
            } else if Settings.isGroup(name), let inner = entry.value.entries, !inner.isEmpty {
                read(inner, below: name + ".", path, folder, &seen)
            } else {
                noteUnknown(name, origin)
            }
        }
    }

    mutating func read(environment: [String: String]) {
        self.environment = environment
        for key in Settings.keys {
            if let text = environment[key.environmentName] { assign(key.name, text, .environment(key.environmentName)) }
        }
        // Other variables may have this prefix for their own reasons (a cluster's service variables); only near misses
        // count as ours.
        let known = Settings.keys.map(\.environmentName)
        for name in environment.keys.sorted() where name.hasPrefix("MEZZOTINT_") && !known.contains(name) {
            if let new = Settings.renamed.first(where: { SettingName.environmentName(of: $0.key) == name })?.value {
                note(.environment(name), nil, "this setting is called '\(SettingName.environmentName(of: new))' since 0.2.0.")
            } else if let meant = Spelling.nearest(to: name, among: known, within: 2) {
                note(.environment(name), nil, "there is no such setting. Did you mean '\(meant)'?")
            } else if known.contains(where: {
                $0.split(separator: "_")[1] == name.split(separator: "_").dropFirst().first
            }) {
                ignoredVariables.append(name)
            }
        }
    }

    /// Reads `key=value` of `--set`.
    mutating func read(assignment: String) {
        guard let crop = assignment.firstIndex(of: "=") else {
            return note(Self.set, nil, "'\(Self.key(of: assignment))' is not an assignment: write key=value.")
        }
        let name = String(assignment[..<crop])
        let text = String(assignment[assignment.index(after: crop)...])
        if Settings.isGroup(name), text.hasPrefix("{") {
            let parsed = YAMLNode.parse(Array(text.utf8))
            if let fields = parsed.root?.entries { return set(fields, below: name) }
            if let problem = parsed.problems.first { return note(Self.set, name, problem.message) }
        }
        guard Settings.key(name) != nil else { return noteUnknown(name, Self.set) }
        assign(name, text, Self.set)
    }

    private mutating func set(_ fields: [YAMLNode.Entry], below group: String) {
        for field in fields {
            let name = "\(group).\(field.key)"
            if Settings.key(name) != nil {
                assign(name, field.value, Self.set, folder: nil)
            } else if Settings.isGroup(name), let inner = field.value.entries {
                set(inner, below: name)
            } else {
                noteUnknown(name, Self.set)
            }
        }
    }

    /// Finds problems between settings that are each valid alone.
    mutating func finish(_ inspect: (Settings) -> [(key: String, message: String)] = { _ in [] }) {
        readSecretFiles()
        func origin(_ name: String, _ other: String) -> SettingOrigin { origins[name] ?? origins[other] ?? .standard }
        for group in settings.origins.groups {
            let name = "origins.\(group.name).hosts"
            do throws(CanonicalFailure) {
                _ = try OriginGroup(name: group.name, hosts: group.hosts)
                if group.hosts.isEmpty { note(origin(name, name), name, "lists no host, so the group is of no use.") }
            } catch { note(origin(name, name), name, "\(error)") }
        }
        if settings.retry.base > settings.retry.cap {
            note(
                origin("retry.base", "retry.cap"), "retry.base",
                "is longer than retry.cap; lower it or raise retry.cap.")
        }
        if settings.fetch.origin.byteLimit > settings.fetch.origin.budget {
            note(
                origin("fetch.byteLimit", "fetch.budget"), "fetch.byteLimit",
                "is larger than fetch.budget, so such a source could never be held; raise fetch.budget.")
        }
        noteLog(origin("log.byteLimit", "log.reserve"))
        noteBounds()
        let deadlines = settings.fetch.origin.deadlines
        for (name, deadline) in [
            ("dns", deadlines.resolve), ("connect", deadlines.connect), ("firstByte", deadlines.firstByte),
        ]
        where deadline > deadlines.whole {
            let name = "fetch.timeouts." + name
            note(
                origin(name, "fetch.timeouts.total"), name,
                "is longer than fetch.timeouts.total; lower it or raise that.")
        }
        let all = settings.origins.freshness
        for (name, freshness) in [("origins", all)]
            + settings.origins.groups.map({ ("origins." + $0.name, settings.freshness(of: $0)) })
        where freshness.floor > freshness.ceiling && (freshness != all || name == "origins") {
            let (floor, ceiling) = (name + ".freshness.floor", name + ".freshness.ceiling")
            note(origin(floor, ceiling), floor, "is longer than \(ceiling); lower it or raise that.")
        }
        for problem in inspect(settings) { note(origins[problem.key] ?? .standard, problem.key, problem.message) }
    }

    private mutating func noteLog(_ origin: SettingOrigin) {
        let log = settings.log
        // An empty log has at most two pages of 8 KiB a table.
        let tables = log.partitions * (128 << 10)
        guard log.reserve + tables >= log.byteLimit else { return }
        func text(_ bytes: Int) -> String { Units.text(bytes, Units.bytes) }
        note(
            origin, "log.byteLimit",
            "\(text(log.byteLimit)) leaves no room for jobs: log.reserve takes \(text(log.reserve)), and the empty tables of \(log.partitions) partitions take \(text(tables)). Raise it above \(text(log.reserve + tables))."
        )
    }

    /// Finds values that another setting would override; a default follows the other setting instead.
    private mutating func noteBounds() {
        func text(_ time: Duration) -> String { Units.text(Int(time.milliseconds), Units.time) }
        let (least, deadline) = settings.leastStandstill
        if let origin = origins["worker.standstill"], settings.worker.standstill < least {
            note(
                origin, "worker.standstill",
                "\(text(settings.worker.standstill)) is below the minimum of \(text(least)), three times \(deadline). Raise it, or lower \(deadline)."
            )
        }
        let ceiling = settings.origins.freshness.ceiling
        if let origin = origins["store.maxAge"], settings.store.maxAge > ceiling {
            note(
                origin, "store.maxAge",
                "\(text(settings.store.maxAge)) is above the maximum of \(text(ceiling)), which origins.freshness.ceiling sets. Lower it, or raise origins.freshness.ceiling."
            )
        }
    }

    private mutating func assign(_ name: String, _ text: String, _ origin: SettingOrigin) {
        // Lists and maps may be YAML in one line; a password may begin as they do.
        let isFlow = (text.hasPrefix("[") || text.hasPrefix("{")) && !isPassword(name, text)
        let parsed = isFlow ? YAMLNode.parse(Array(text.utf8)) : nil
        if let problem = parsed?.problems.first(where: { $0.message.hasSuffix(YAMLNode.aliasAdvice) }) {
            return note(origin, name, problem.message)
        }
        assign(name, parsed?.root ?? YAMLNode(.scalar(text)), origin, folder: nil)
    }

    private func isPassword(_ name: String, _ text: String) -> Bool {
        guard let key = Settings.key(name), key.isSecret else { return false }
        var trial = settings
        return (try? key.assign(&trial, YAMLNode(.scalar(text)).withoutLineEnds, nil)) ?? false
    }

    /// The part of an assignment without `=` that may be quoted: never text after a secret's key.
    private static func key(of assignment: String) -> String {
        let start = assignment.prefix { $0.isLetter || $0.isNumber || ".-_".contains($0) }
        let group = Settings.groupName(in: String(start)).map(Settings.groupKeys) ?? []
        let secret = (Settings.keys + group).first { $0.isSecret && start.lowercased().hasPrefix($0.name.lowercased()) }
        return secret?.name ?? String(start)
    }

    private static func expected(_ expectation: String, _ node: YAMLNode, isSecret: Bool) -> String {
        "expected \(expectation)" + (isSecret ? ". The value may be secret and is not shown." : ", got \(node.brief).")
    }

    private mutating func assign(_ name: String, _ node: YAMLNode, _ origin: SettingOrigin, folder: String?) {
        guard let key = Settings.key(name) else { return }
        do throws(SettingRefusal) {
            guard try key.assign(&settings, node.withoutLineEnds, folder) else {
                return note(origin, name, Self.expected(key.expectation, node, isSecret: key.isSecret))
            }
            origins[name] = origin
        } catch {
            note(origin, name, error.message)
        }
    }

    private mutating func noteUnknown(_ name: String, _ origin: SettingOrigin) {
        // `password:x` without a space is one name, which may contain a secret.
        let name = SettingName.shown(name)
        if let new = Settings.newName(of: name) {
            return note(origin, name, "this setting is called '\(new)' since 0.2.0.")
        }
        // A key in the wrong group is as frequent as a typing error.
        let leaf = name.split(separator: ".").last.map(String.init) ?? name
        let group = Settings.groupName(in: name).map(Settings.groupKeys) ?? []
        let names = (Settings.keys + group).map(\.name)
        // The limit depends on the leaf: a long group would make any two of its keys similar.
        let meant =
            Spelling.nearest(to: name, among: names, within: max(1, leaf.utf8.count / 3))
            ?? names.first { $0.hasSuffix("." + leaf) }
        note(
            origin, name,
            "there is no such setting. "
                + (meant.map { "Did you mean '\($0)'?" } ?? Self.beside(name, names)
                    ?? "'mezzotint config keys' lists them."))
    }

    /// The keys of the same group, if they fit in a sentence.
    private static func beside(_ name: String, _ names: [String]) -> String? {
        guard let dot = name.lastIndex(of: ".") else { return nil }
        let keys = names.filter { $0.hasPrefix(name[...dot]) }.map { String($0.dropFirst(name[...dot].count)) }
        return (1...10).contains(keys.count) ? "\(name[..<dot]) has \(keys.joined(separator: ", "))." : nil
    }

    private mutating func note(_ origin: SettingOrigin, _ key: String?, _ message: String) {
        problems.append(SettingProblem(origin: origin, key: key, message: message))
    }
}
