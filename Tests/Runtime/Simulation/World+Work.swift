internal import Canonical
internal import Clocks
internal import ImageModel
internal import Records

/// What publishers ask for.
extension World {
    func publishSoon() {
        if floods, chance.isOne(in: 12) { floodUntil = now + chance.within(8_000_000...25_000_000) }
        if floodUntil > now {
            return after(chance.within(20_000...160_000)) { [self] in
                if !publishes { return }
                count(.flooded)
                // One host is left to slow jobs: those of others wait for their host, too.
                let lane: Lane = chance.isOne(in: 12) ? .slow : .fast
                let host = lane == .slow ? 0 : 1 + chance.below(Origins.hostCount - 1)
                publish(source: 24 + host + Origins.hostCount * chance.below(24), lane: lane)
                publishSoon()
            }
        }
        after(chance.isOne(in: 6) ? chance.within(1_000_000...6_000_000) : chance.within(1_000...900_000)) { [self] in
            if !publishes { return }
            for _ in 0..<(chance.isOne(in: 5) ? 1 + chance.below(8) : 1) { publish() }
            publishSoon()
        }
    }

    /// More jobs for one partition than its owner reads ahead, at once: by a chance of their own, so that other seeds are as
    /// they would be without them.
    func burstSoon() {
        var chance = Chance(seed: seed ^ 0x4255_5253)
        guard chance.isOne(in: 8) else { return }
        let partition = chance.pick(Cluster.partitions)
        let sources = catalogue.sources.prefix(Origins.sourceCount).filter { $0.partition == partition }
        after(chance.within(2_000_000...20_000_000)) { [self] in
            if !publishes { return }
            for number in 0..<6 * Self.readAhead {
                count(.publishedBurst)
                let source = sources[number % sources.count]
                let job = Job(
                    id: "burst-\(number)", url: source.url, source: source.key, variants: catalogue.wishes[0],
                    lane: .fast,
                    expires: nil)
                cluster.publish(job.newRecord(partitions: Cluster.partitionCount, at: wall))
            }
        }
    }

    /// Where nothing else goes wrong, a host is silent now and then.
    func impatientSoon() {
        var chance = Chance(seed: seed ^ 0x494D_5041)
        guard faults.isEmpty, !floods, chance.isOne(in: 2) else { return }
        for _ in 0..<4 {
            let host = chance.below(Origins.hostCount)
            after(chance.within(1_000_000...50_000_000)) { [self] in
                if !publishes { return }
                origins.stallsUntil[host] = now + 6_000_000
                disturb(until: now + 6_000_000)
                publishImpatient(at: host)
            }
        }
    }

    /// Jobs at a host that does not answer for a while, whose time is over before their fetch is: by a chance of their own.
    func publishImpatient(at host: Int) {
        var chance = Chance(seed: seed ^ UInt64(now))
        for _ in 0..<3 {
            published += 1
            count(.publishedImpatient)
            let source = catalogue.sources[24 + host + Origins.hostCount * chance.below(24)]
            let begin = wall
            let job = Job(
                id: "impatient-\(published)", url: source.url, source: source.key, variants: catalogue.wishes[0],
                lane: .fast, expires: begin + .milliseconds(chance.within(300...1_500)))
            cluster.publish(job.newRecord(partitions: Cluster.partitionCount, at: begin))
        }
    }

    private func publish() {
        // Some sources are asked for much more often than others.
        publish(source: chance.below(chance.isOne(in: 3) ? 4 : 24), lane: chance.isOne(in: 3) ? .slow : .fast)
    }

    private func publish(source number: Int, lane: Lane) {
        published += 1
        let source = catalogue.sources[number]
        let isLate = chance.isOne(in: 12)
        let hasTime = !isLate && choices.isOne(in: 8)
        let freshness: JobFreshness = choices.isOne(in: 12) ? .force : choices.isOne(in: 12) ? .cacheOnly : .ifStale
        promises.publish("job-\(published)", hasTime: hasTime, freshness)
        let life: Duration? = isLate ? .milliseconds(chance.within(0...6_000)) : hasTime ? Promises.longLife : nil
        let job = Job(
            id: "job-\(published)", url: source.url, source: source.key, variants: chance.pick(catalogue.wishes),
            lane: lane,
            expires: life.map { wall + $0 },
            freshness: freshness,
            fallback: choices.isOne(in: 4) ? .degraded : choices.isOne(in: 6) ? .none : .stale)
        if job.freshness == .force { count(.publishedForced) }
        if job.freshness == .cacheOnly { count(.publishedCacheOnly) }
        var record = job.newRecord(partitions: Cluster.partitionCount, at: wall)
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
            // Taken once; whoever appends it again finds that the brokers take less by now.
            record.value?.insert(contentsOf: [UInt8](repeating: 32, count: Cluster.recordLimit), at: 1)
        default: break
        }
        cluster.publish(record)
    }
}
