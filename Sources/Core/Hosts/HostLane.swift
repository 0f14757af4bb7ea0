package import Canonical
package import ImageModel

/// One lane of one host. Each lane has its own share of the host's memory.
///
/// With one share for both lanes, 2,000 slow jobs of a host made each fast job of that host wait: 4.8 s at the median
/// (43cee9c).
package struct HostLane: Sendable, Hashable {
    package let host: OriginHost
    package let lane: Lane

    package init(_ host: OriginHost, _ lane: Lane) { (self.host, self.lane) = (host, lane) }
}
