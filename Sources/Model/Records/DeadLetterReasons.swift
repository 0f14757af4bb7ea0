package import Canonical
package import Clocks
internal import Failures

/// Histogram of dead letters by their code, the most frequent first.
package struct DeadLetterReasons: Sendable, Hashable {
    package struct Reason: Sendable, Hashable {
        package let code: String
        package fileprivate(set) var deadLetters = 0
        package fileprivate(set) var oldest: WallTime
        package fileprivate(set) var newest: WallTime
        /// Number of letters of each host, or group of hosts; letters without a URL have none.
        fileprivate var byHost: [String: Int] = [:]

        package var hosts: Int { byHost.count }
        /// Host with the most letters.
        package var host: String? { byHost.min { ($1.value, $0.key) < ($0.value, $1.key) }?.key }
    }

    package let all: [Reason]

    package init(of deadLetters: some Sequence<DeadLetter>, groups: [OriginGroup]) {
        var reasons: [String: Reason] = [:]
        for deadLetter in deadLetters {
            let code = deadLetter.cause.code
            var reason = reasons[code] ?? Reason(code: code, oldest: deadLetter.at, newest: deadLetter.at)
            reason.deadLetters += 1
            (reason.oldest, reason.newest) = (min(reason.oldest, deadLetter.at), max(reason.newest, deadLetter.at))
            if let url = deadLetter.url?.description {
                reason.byHost[groups.origin(of: url).description, default: 0] += 1
            }
            reasons[code] = reason
        }
        all = reasons.values.sorted { ($1.deadLetters, $0.code) < ($0.deadLetters, $1.code) }
    }
}
