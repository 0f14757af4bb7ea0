internal import KafkaSetup
internal import Posix

/// Watermarks on their way to the group's committed offsets.
extension KafkaLogConsumer {
    func note(_ watermark: Int64, of place: KafkaPlace) {
        guard queue(place) != nil else { return }
        pending[place] = max(watermark, pending[place] ?? watermark)
        guard commitDue == nil else { return }
        commitDue = SystemTime.monotonicNanoseconds + log.configuration.timing.commit.nanoseconds
        thread.wake()
    }

    /// One commit at a time; what comes meanwhile goes with the next.
    func commitPending(at now: Int64) {
        guard commitsUnderWay == 0 else {
            commitDue = now + log.configuration.timing.commit.nanoseconds
            return
        }
        storePending()
        guard let member, case .owning = phase else { return }
        if member.commitStored() { commitsUnderWay += 1 }
    }

    /// Before partitions are given up: whatever was handed in so far, behind a commit that may be under way.
    func commitLast() {
        storePending()
        if let member, member.commitStored() { commitsUnderWay += 1 }
    }

    private func storePending() {
        commitDue = nil
        if pending.isEmpty { return }
        member?.store(pending)
        pending.removeAll(keepingCapacity: true)
    }
}
