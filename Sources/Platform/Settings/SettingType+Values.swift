internal import Canonical
internal import SettingTypes

extension SettingType where Value == ListenAddress? {
    static var listenAddress: Self {
        scalar(
            "an IP address (not a host name) and a port, such as 127.0.0.1:9464 or [::1]:9464, or nothing",
            { text in text.isEmpty ? .some(nil) : ListenAddress(text).map { .some($0) } },
            write: { $0?.description ?? "" })
    }
}

extension SettingType where Value == String {
    /// A collector's URL, or an empty text. Its query may contain a secret, so it is sent but not shown.
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
}

extension SettingType {
    /// The error for the first invalid parameter name. It leaves out the name's value, which may be a signature.
    fileprivate static func refusal(ofNames names: [String]) -> SettingRefusal? {
        names.lazy.compactMap { name in
            HostAliasGroup.fault(inParameterName: name).map { fault in
                let end = name.firstIndex(of: "=")
                return SettingRefusal("'\(end.map { name[...$0] + "…" } ?? name[...])' \(fault).")
            }
        }.first
    }
}

extension SettingType where Value == [HostAliasGroup] {
    /// Groups of hosts: `{shop: {hosts: [a.example, b.example], mergeSchemes: true, volatile: [sig]}}`.
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
