import Clocks
import Partition
import Positions
import Records
import TestSupport
import Testing

@Suite("When the log of an owned topic is looked at", .timeLimit(.minutes(1)))
struct LogWatchTests {
    private func open(_ fingerprint: RecordFingerprint? = nil, at now: Instant = 0) -> LogWatch {
        var watch = LogWatch()
        let looks = watch.beginLook(at: now)
        #expect(looks && !watch.isOpen)
        watch.begin(fingerprint: fingerprint, at: now)
        return watch
    }

    @Test("Nothing is taken up before the first look has ended")
    func first() {
        var watch = LogWatch()
        #expect(!watch.isOpen)
        do {
            let looks = watch.beginLook(at: 5)
            #expect(looks)
        }
        do {
            let looks = watch.beginLook(at: 5)
            #expect(!looks, "one look at a time")
        }
        watch.failed(at: 5)
        do {
            let looks = watch.beginLook(at: 900)
            #expect(!looks && !watch.isOpen, "after a pause")
        }
        do {
            let looks = watch.beginLook(at: 1_005)
            #expect(looks)
        }
        watch.begin(fingerprint: nil, at: 1_005)
        #expect(watch.isOpen)
    }

    @Test("As long as no look could be made, the first record is the anchor: those after it may be of another log")
    func unverified() {
        var watch = open()
        watch.receive(3, appended: 300, at: 100)
        watch.receive(4, appended: 9_000, at: 200)
        #expect(watch.fingerprint == RecordFingerprint(offset: 3, timestamp: 300))
        #expect(watch.last == RecordFingerprint(offset: 4, timestamp: 9_000))
        let looks = watch.beginLook(at: 1_100)
        #expect(looks && watch.readsFingerprint)
        watch.failed(at: 1_101)
        watch.suspect()
        #expect(watch.fingerprint == RecordFingerprint(offset: 3, timestamp: 300))
    }

    @Test("A second after the first record there is an anchor, and after that a look every 15 s")
    func fingerprints() {
        var watch = open()
        watch.receive(3, appended: 300, at: 100)
        do {
            let looks = watch.beginLook(at: 1_099)
            #expect(!looks)
        }
        do {
            let looks = watch.beginLook(at: 1_100)
            #expect(looks && watch.isOpen)
        }
        #expect(watch.fingerprint == RecordFingerprint(offset: 3, timestamp: 300))
        #expect(watch.last == nil)
        // It came after the look began: another log may have come between.
        watch.receive(9, appended: 900, at: 1_101)
        watch.found(at: 1_102)
        #expect(watch.fingerprint == RecordFingerprint(offset: 3, timestamp: 300))
        #expect(watch.last == RecordFingerprint(offset: 9, timestamp: 900), "for the next owner, beside the anchor")
        do {
            let looks = watch.beginLook(at: 16_101)
            #expect(!looks)
        }
        do {
            let looks = watch.beginLook(at: 16_102)
            #expect(looks)
        }
        #expect(watch.readsFingerprint)
        watch.found(at: 16_103)
        #expect(watch.fingerprint == RecordFingerprint(offset: 9, timestamp: 900))
        // Nothing came since: its end is enough, but for one look of four. Another log may have as many records.
        for (look, reads) in [false, false, false, true, false].enumerated() {
            let now = Instant(40_000 + look * 20_000)
            let looks = watch.beginLook(at: now)
            #expect(looks && watch.readsFingerprint == reads)
            watch.found(at: now)
        }
        watch.suspect()
        #expect(watch.readsFingerprint)
    }

    @Test("The anchor of a topic that is idle since it came is read at one look of four")
    func idle() {
        var watch = LogWatch()
        watch.begin(fingerprint: RecordFingerprint(offset: 3, timestamp: 300), from: 4, at: 0)
        let reads = (1...8).map { look in
            let looks = watch.beginLook(at: Instant(look * 20_000))
            defer { watch.found(at: Instant(look * 20_000)) }
            return looks && watch.readsFingerprint
        }
        #expect(reads == [false, false, false, true, false, false, false, true])
    }

    @Test("A failure to read shuts the topic until a look, at what was read before it")
    func suspicion() {
        var watch = open()
        watch.receive(3, appended: 300, at: 100)
        watch.suspect()
        #expect(!watch.isOpen && watch.fingerprint == RecordFingerprint(offset: 3, timestamp: 300))
        do {
            let looks = watch.beginLook(at: 101)
            #expect(looks)
        }
        // The look may have come before the failure.
        watch.suspect()
        do {
            let isOutdated = watch.isOutdated()
            #expect(isOutdated && !watch.isOpen)
        }
        do {
            let looks = watch.beginLook(at: 103)
            #expect(looks)
        }
        do {
            let isOutdated = watch.isOutdated()
            #expect(!isOutdated)
        }
        watch.found(at: 104)
        #expect(watch.isOpen && watch.proof == nil)
    }

    @Test("A proof stays until reading begins again")
    func proof() {
        var watch = open(RecordFingerprint(offset: 1, timestamp: 1))
        let proof = LogBreak.wentBack(from: 9, to: 0)
        watch.suspect(proof)
        watch.suspect()
        #expect(watch.proof == proof)
        watch.begin(fingerprint: nil, at: 10)
        #expect(watch.isOpen && watch.proof == nil && watch.fingerprint == nil)
    }

    @Test("What retention removed unread is told of once; gaps above the log's beginning are not")
    func expired() {
        func records(_ offsets: some Sequence<Int64>) -> [Record] {
            offsets.map {
                Record(
                    topic: .jobsFast, partition: PartitionID(0), offset: $0, timestamp: 0, key: [], value: [],
                    headers: [])
            }
        }
        var watch = LogWatch()
        watch.begin(fingerprint: nil, from: 5, at: 0)
        watch.receive(records(5..<8), at: 0)
        watch.receive(records([9, 10, 20, 21]), at: 0)
        var found = [watch.expired(below: 20, isDrained: false), watch.expired(below: 21, isDrained: false)]
        // A transaction's marker.
        watch.receive(records([23]), at: 0)
        found.append(watch.expired(below: 10, isDrained: false))
        // What was read waits to be received, and does not.
        found.append(watch.expired(below: 30, isDrained: false))
        found += [watch.expired(below: 30, isDrained: true), watch.expired(below: 30, isDrained: true)]
        // Where reading began is no record.
        watch.begin(fingerprint: nil, from: 40, at: 0)
        watch.receive(records([44]), at: 0)
        found.append(watch.expired(below: 44, isDrained: false))
        #expect(found == [11..<20, nil, nil, nil, 24..<30, nil, 40..<44])
    }

    @Test(
        "A transaction's end behind the last record is not taken for a record that retention removed; what came behind it is"
    )
    func transactions() {
        var watch = LogWatch()
        watch.begin(fingerprint: nil, from: 5, at: 0)
        let found = [
            // The record at 4 was the last; a marker stands at 5.
            watch.expired(below: 0, isDrained: true, position: 6),
            watch.expired(below: 6, isDrained: true, position: 6),
            watch.expired(below: 9, isDrained: true, position: 9),
            watch.expired(below: 9, isDrained: true, position: 9),
        ]
        #expect(found == [nil, nil, 6..<9, nil])
    }
}
