internal import Synchronization
internal import TestSupport

/// A host for each hostile response: a shared host that asks for a day's pause would block all later responses.
final class HostileHosts: Sendable {
    private let answers: HostileResponses
    private let hosts = Mutex<[Int: BrokenOrigin]>([:])
    /// Most hosts that are kept: far more than are requested at once.
    private static let most = 256

    init(_ answers: HostileResponses) { self.answers = answers }

    /// URL of the `number`th response.
    func url(_ number: Int) throws -> String {
        let host = try BrokenOrigin(on: "127.1.\(number >> 8 & 255).\(number & 255)", answers.behaviour(number))
        hosts.withLock { hosts in
            hosts[number] = host
            hosts[number - Self.most] = nil
        }
        return host.url("/\(number)")
    }
}
