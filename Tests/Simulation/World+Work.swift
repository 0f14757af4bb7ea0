internal import ImageModel

/// What publishers ask for.
extension World {
    func publishSoon() {
        after(chance.isOne(in: 6) ? chance.within(1_000_000...6_000_000) : chance.within(1_000...900_000)) { [self] in
            if isCalm { return }
            for _ in 0..<(chance.isOne(in: 5) ? 1 + chance.below(8) : 1) { publish() }
            publishSoon()
        }
    }

    private func publish() {
        published += 1
        // Some sources are asked for much more often than others.
        let number = chance.isOne(in: 3) ? chance.below(4) : chance.below(Origins.sourceCount)
        let source = catalogue.sources[number]
        let isLate = chance.isOne(in: 12)
        let job = Job(
            id: "job-\(published)", url: source.url, source: source.key, variants: chance.pick(catalogue.wishes),
            lane: chance.isOne(in: 3) ? .slow : .fast,
            expires: isLate ? World.begin + now / 1_000 + chance.within(0...6_000) : nil)
        var record = job.newRecord(partitions: Cluster.partitionCount, at: World.begin + now / 1_000)
        count(isLate ? .publishedExpiring : .published)
        switch chance.below(60) {
        case 0:
            count(.publishedForeign)
            record.value = Array("no job".utf8)
        case 1:
            count(.publishedMisplaced)
            record.partition = PartitionID((record.partition.number + 1) % Int32(Cluster.partitionCount))
        case 2:
            count(.publishedLarge)
            (record.value, record.key) = (Array("no job".utf8), [UInt8](repeating: 7, count: Cluster.recordLimit))
        default: break
        }
        cluster.publish(record)
    }
}
