internal import Synchronization
internal import TestSupport

/// A host for each hostile answer: one that wants to be left alone for a day would keep all behind it from being asked.
final class HostileHosts: Sendable {
    private let answers: HostileAnswers
    private let hosts = Mutex<[Int: BrokenOrigin]>([:])
    /// Far more than are asked at once.
    private static let most = 256

    init(_ answers: HostileAnswers) { self.answers = answers }

    /// Of the `number`th.
    func url(_ number: Int) throws -> String {
        let host = try BrokenOrigin(on: "127.1.\(number >> 8 & 255).\(number & 255)", answers.behaviour(number))
        hosts.withLock { hosts in
            hosts[number] = host
            hosts[number - Self.most] = nil
        }
        return host.url("/\(number)")
    }
}
