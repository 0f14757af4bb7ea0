package import VariantSpec

/// Configurable part of canonical form n1: hosts that count as one, ignored query parameters, and size steps.
///
/// Every producer of one deployment must use the same rules; otherwise one image gets two keys. The defaults merge no
/// hosts and drop no parameters, so that different images never share a key.
package struct CanonicalRules: Sendable, Hashable {
    /// Version of the form: the first field of every source key.
    package static let version = "n1"

    package let aliasGroups: [HostAliasGroup]
    package let originGroups: [OriginGroup]
    /// Names of query parameters that do not choose the image (signatures, expiries), on every host.
    package let volatileParameters: [String]
    /// Dialects that are read on hosts whose alias group sets none.
    package let dialects: Set<URLDialect>
    package let sizeSteps: SizeSteps
    /// Whether specs in a job are rounded up to size steps too, as specs of dialect URLs always are.
    package let roundSizes: Bool
    /// Qualities of variants that name none, for formats that have one.
    package let defaultQualities: DefaultQualities
    /// Most bytes of the received and of the canonical URL.
    package let urlByteLimit: Int

    /// Parameters that are hidden in messages: volatile parameters of any host, and well-known parameters that sign
    /// URLs.
    package let hidden: HiddenParameters
    private let orderedDialects: [URLDialect]
    private let volatileNames: Set<[UInt8]>
    private let groupOfAuthority: [[UInt8]: ListedGroup]

    package init(
        aliasGroups: [HostAliasGroup] = [], originGroups: [OriginGroup] = [], volatileParameters: [String] = [],
        dialects: Set<URLDialect> = Set(URLDialect.allCases),
        sizeSteps: SizeSteps = SizeSteps(), roundSizes: Bool = false, defaultQuality: Int = 80,
        defaultAVIFQuality: Int = 63,
        urlByteLimit: Int = 8 << 10
    ) {
        self.aliasGroups = aliasGroups
        self.originGroups = originGroups
        self.volatileParameters = volatileParameters
        self.dialects = dialects
        orderedDialects = URLDialect.allCases.filter(dialects.contains)
        self.sizeSteps = sizeSteps
        self.roundSizes = roundSizes
        defaultQualities = DefaultQualities(
            general: min(max(defaultQuality, 1), 100), avif: min(max(defaultAVIFQuality, 1), 100))
        self.urlByteLimit = urlByteLimit
        hidden = HiddenParameters(volatileParameters + aliasGroups.flatMap(\.volatileParameters))
        volatileNames = HostAliasGroup.canonicalNames(volatileParameters)
        var groupOfAuthority: [[UInt8]: ListedGroup] = [:]
        for group in aliasGroups {
            // A host belongs to the first group that lists it. Otherwise a leader could be an alias of another, and
            // N(N(u)) would differ from N(u).
            let own = group.authorities.filter { groupOfAuthority[$0] == nil }
            for authority in own { groupOfAuthority[authority] = ListedGroup(group: group, leader: own[0]) }
        }
        self.groupOfAuthority = groupOfAuthority
    }

    /// Problems for the configuration's check: a group defined twice, a host in two groups.
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

    /// Dialects in the order in which they are tried; the first that recognises a URL reads it.
    func dialects(in group: HostAliasGroup?) -> [URLDialect] { group?.orderedDialects ?? orderedDialects }

    /// A group, and the authority that replaces all of its hosts in canonical URLs.
    struct ListedGroup: Sendable, Hashable {
        let group: HostAliasGroup
        let leader: [UInt8]
    }
}
