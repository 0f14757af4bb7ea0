package import HTTP
package import Ports
package import Posix

/// Configuration of fetching: the operator's settings, and values that follow from other settings.
package struct OriginConfiguration: Sendable {
    package var settings = OriginSettings()
    package var connectionsPerHost = 16
    package var sent = SentHeaders(userAgent: OriginSettings().userAgent)
    /// Who may vouch for origins; nil: the system's authorities alone.
    package var authorities: TrustedAuthorities?

    package init() {}

    /// - Parameter most: the most flights that any host may have at once.
    package init(_ settings: OriginSettings, most: Int, sent: SentHeaders) throws(SystemFailure) {
        self.settings = settings
        connectionsPerHost =
            settings.connectionsPerHost > 0 ? settings.connectionsPerHost : max(most, connectionsPerHost)
        self.sent = sent
        if !settings.authorities.isEmpty { authorities = try TrustedAuthorities(files: settings.authorities) }
    }
}
