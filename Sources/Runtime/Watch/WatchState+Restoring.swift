internal import Clocks
package import Records

extension WatchState {
    /// Number of partitions that their owners restore, if the workers that respond own all partitions with an owner;
    /// else nil.
    var restoringByWorkers: Int? {
        let reported = workers.values.filter { $0.silence == nil }.compactMap(\.figures)
        let owned = reported.reduce(0) { $0 + ($1.owned ?? 0) }
        guard areOwnersKnown, !reported.isEmpty, reported.allSatisfy({ $0.restoring != nil }),
            owned >= partitions.count(where: { $0.owner != nil })
        else { return nil }
        return reported.reduce(0) { $0 + ($1.restoring ?? 0) }
    }

    /// Whether the partition is being restored, by its owner's report or its rows; nil if neither is known.
    ///
    /// - Parameter told: the value of `restoringByWorkers`.
    func isRestoring(_ number: Int, reported: Int?) -> Bool? {
        reported == 0 || isForeign(number) ? false : partitions[number].isRestoring
    }

    /// Partitions whose owner has shown no work since it came, those first that were read longest ago.
    package var partitionsToProve: [PartitionID] {
        guard restoringByWorkers != 0 else { return [] }
        let open = partitions.indices.filter { partitions[$0].isRestoring != false }
        return open.sorted {
            (partitions[$0].changelogAt ?? .distantPast, $0) < (partitions[$1].changelogAt ?? .distantPast, $1)
        }.map { PartitionID(Int32($0)) }
    }
}
