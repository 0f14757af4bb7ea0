package import VariantSpec

/// The configurable part of canonical form n1: which hosts are one, what is noise in a query, and the tiers.
///
/// Every producer of one deployment must use the same rules, or one image gets two keys. The defaults name no host
/// and drop no parameter, so that nothing that differs is ever taken for one.
package struct CanonicalRules: Sendable, Hashable {
    /// The name of the form, the first field of every source key.
    package static let version = "n1"

    package let aliasGroups: [HostAliasGroup]
    package let originGroups: [OriginGroup]
    /// Names of query parameters that do not choose the image (signatures, expiries), on every host.
    package let volatileParameters: [String]
    /// What is understood on hosts whose group does not say otherwise.
    package let dialects: Set<URLDialect>
    package let tiers: Tiers
    /// Whether specs written out in a job go to tiers too, as those of dialect URLs always do.
    package let specTiers: Bool
    /// For formats that have one, where none is asked.
    package let defaultQualities: DefaultQualities
    /// Bytes, of the received and of the canonical URL.
    package let urlByteLimit: Int

    /// What of a URL is not shown: volatile parameters of any host, and those that are well known to sign.
    package let hidden: HiddenParameters
    private let orderedDialects: [URLDialect]
    private let volatileNames: Set<[UInt8]>
    private let groupOfAuthority: [[UInt8]: ListedGroup]

    package init(
        aliasGroups: [HostAliasGroup] = [], originGroups: [OriginGroup] = [], volatileParameters: [String] = [],
        dialects: Set<URLDialect> = Set(URLDialect.allCases),
        tiers: Tiers = Tiers(), specTiers: Bool = false, defaultQuality: Int = 80, defaultAVIFQuality: Int = 63,
        urlByteLimit: Int = 8 << 10
    ) {
        self.aliasGroups = aliasGroups
        self.originGroups = originGroups
        self.volatileParameters = volatileParameters
        self.dialects = dialects
        orderedDialects = URLDialect.allCases.filter(dialects.contains)
        self.tiers = tiers
        self.specTiers = specTiers
        defaultQualities = DefaultQualities(
            general: min(max(defaultQuality, 1), 100), avif: min(max(defaultAVIFQuality, 1), 100))
        self.urlByteLimit = urlByteLimit
        hidden = HiddenParameters(volatileParameters + aliasGroups.flatMap(\.volatileParameters))
        volatileNames = HostAliasGroup.canonicalNames(volatileParameters)
        var groupOfAuthority: [[UInt8]: ListedGroup] = [:]
        for group in aliasGroups {
            // What an earlier group has is not this one's: else a leader could be an alias of another, and N(N(u)) not N(u).
            let own = group.authorities.filter { groupOfAuthority[$0] == nil }
            for authority in own { groupOfAuthority[authority] = ListedGroup(group: group, leader: own[0]) }
        }
        self.groupOfAuthority = groupOfAuthority
    }

    /// What a person should change, for the configuration's check: a group named twice, a host in two groups.
    package var problems: [String] {
        var found: [String] = []
        var ids: Set<String> = []
        var owners: [[UInt8]: String] = [:]
        for group in aliasGroups {
            if !ids.insert(group.id).inserted {
                found.append("The alias group \(group.id) is defined twice. Name each once.")
            }
            for authority in group.authorities {
                if let owner = owners.updateValue(group.id, forKey: authority), owner != group.id {
                    let host = String(decoding: authority, as: UTF8.self)
                    found.append("\(host) is in the alias groups \(owner) and \(group.id). Put it in one.")
                }
            }
        }
        return found
    }

    func group(of authority: [UInt8]) -> ListedGroup? { groupOfAuthority.isEmpty ? nil : groupOfAuthority[authority] }

    func isVolatile(_ name: ArraySlice<UInt8>, in group: HostAliasGroup?) -> Bool {
        guard !volatileNames.isEmpty || group?.volatileNames.isEmpty == false else { return false }
        let name = Array(name)
        return volatileNames.contains(name) || group?.volatileNames.contains(name) == true
    }

    /// The first that knows a URL reads it.
    func dialects(in group: HostAliasGroup?) -> [URLDialect] { group?.orderedDialects ?? orderedDialects }

    /// A group, and the authority that stands for all of its hosts.
    struct ListedGroup: Sendable, Hashable {
        let group: HostAliasGroup
        let leader: [UInt8]
    }
}
