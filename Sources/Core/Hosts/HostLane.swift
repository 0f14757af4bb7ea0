package import Canonical
package import ImageModel

/// One lane of one host: its jobs have a share of the memory to themselves.
///
/// A share for both lanes let 2,000 slow jobs of a host send each fast job of that host to `retry.10s`.
package struct HostLane: Sendable, Hashable {
    package let host: OriginHost
    package let lane: Lane

    package init(_ host: OriginHost, _ lane: Lane) { (self.host, self.lane) = (host, lane) }
}
