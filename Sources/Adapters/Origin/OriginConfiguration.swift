package import Access
package import HTTP
package import Ports

/// How sources are fetched.
package struct OriginConfiguration: Sendable {
    package var access = AccessRules()
    /// Bytes of one body.
    package var byteLimit = 64 << 20
    /// Bytes of all bodies that are in the worker at one time, those that wait for a renderer included.
    package var memoryBudget = 256 << 20
    package var redirects = 5
    package var deadlines = HTTPDeadlines()
    package var connectionsPerHost = 16
    package var sent = SentHeaders()
    /// Who may vouch for origins; nil: the system's authorities alone.
    package var authorities: TrustedAuthorities?

    package init() {}
}
