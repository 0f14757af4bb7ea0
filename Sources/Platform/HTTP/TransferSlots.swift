internal import Glibc
internal import Posix
internal import Synchronization

/// The loops of a client: each has a thread, and serves one host at a time.
///
/// Nothing can interrupt libcurl within one call, and a host determines how long that takes. On a thread of its own it
/// delays only itself; the system divides the processor's time.
///
/// - Ownership: `end` ends all threads. Until then there are as many as hosts were used at once, and at least those of
///   the last hosts, with their connections.
final class TransferSlots: Sendable {
    /// A loop and the host that it serves.
    final class Slot: Sendable {
        let mailbox = TransferMailbox()
        let traffic = Traffic()
    }

    private struct Place {
        let slot: Slot
        var host: String
        var transfers = 0
        /// Turn at which it was last left.
        var left: UInt64 = 0
    }

    private struct State {
        var places: [Place] = []
        var turn: UInt64 = 0
        var isWatched = false
        var isOver = false
    }

    private let state = Mutex(State())
    private let connectionsPerHost: Int

    /// Number of hosts whose idle connections are kept.
    private static let kept = 64
    /// Interval in milliseconds. A connection of 1 Gbit/s brings 2.5 MB meanwhile.
    private static let watchEvery: UInt32 = 20

    init(connectionsPerHost: Int) { self.connectionsPerHost = connectionsPerHost }

    /// The slot that serves a host, or the slot that was idle longest, or a new slot.
    func take(for host: String) -> Slot {
        state.withLock { state in
            if !state.isWatched {
                state.isWatched = true
                OwnThread.start("http-watch") { [weak self] in
                    while let self, self.watch() { usleep(Self.watchEvery * 1_000) }
                }
            }
            let index = index(for: host, &state)
            if state.places[index].transfers == 0 {
                state.places[index].slot.traffic.begin(forAnotherHost: state.places[index].host != host)
                state.places[index].host = host
            }
            state.places[index].transfers += 1
            return state.places[index].slot
        }
    }

    private func index(for host: String, _ state: inout State) -> Int {
        if let same = state.places.firstIndex(where: { $0.host == host }) { return same }
        let idle = state.places.indices.filter { state.places[$0].transfers == 0 }
        if state.places.count >= Self.kept, let oldest = idle.min(by: { state.places[$0].left < state.places[$1].left })
        {
            return oldest
        }
        let slot = Slot()
        OwnThread.start("http") { [connectionsPerHost] in
            TransferLoop(slot.mailbox, slot.traffic, connectionsPerHost: connectionsPerHost).run()
        }
        state.places.append(Place(slot: slot, host: host))
        return state.places.count - 1
    }

    func leave(_ slot: Slot) {
        state.withLock { state in
            guard let index = state.places.firstIndex(where: { $0.slot === slot }) else { return }
            state.turn += 1
            state.places[index].transfers -= 1
            state.places[index].left = state.turn
        }
    }

    func end() {
        state.withLock { state in
            for place in state.places { place.slot.mailbox.post(.stop) }
            (state.places, state.isOver) = ([], true)
        }
    }

    /// Checks all busy slots; false if there are none: the next transfer starts the watch again.
    private func watch() -> Bool {
        let busy = state.withLock { state in
            let busy = state.isOver ? [] : state.places.filter { $0.transfers > 0 }.map(\.slot.traffic)
            state.isWatched = !busy.isEmpty
            return busy
        }
        for traffic in busy { traffic.check() }
        return !busy.isEmpty
    }
}
