import Ledger
import Partition
import Ports
import Testing

@Suite("Which rows of a changelog count")
struct EpochFoldTests {
    /// A record of a changelog, as short as a table needs it: `2:a=x` is key `a` written in epoch 2, `2!` the mark that
    /// opens epoch 2.
    struct Word: CustomStringConvertible {
        let epoch: Int64
        let key: Substring
        let value: Substring
        var isMark: Bool { key == "@" }
        var description: String { isMark ? "\(epoch)!" : "\(epoch):\(key)=\(value)" }

        init(_ text: Substring) {
            let parts = text.split(whereSeparator: { ":=!".contains($0) })
            epoch = Int64(parts[0]) ?? 0
            (key, value) = parts.count == 3 ? (parts[1], parts[2]) : ("@", "")
        }
    }

    /// What an index holds that begins with nothing, and the keys that were written too late.
    static func fold(_ words: [Word], own: Int64 = 9) -> (rows: [Substring: Substring], late: Set<Substring>) {
        var epochs = EpochFold(after: 0, upTo: 0, own: own, since: 0)
        var (rows, late) = ([Substring: Substring](), Set<Substring>())
        for word in words {
            if !epochs.counts(written: word.epoch, opened: word.isMark ? word.epoch : nil, at: 0) {
                late.insert(word.key)
            } else if !word.isMark {
                rows[word.key] = word.value
            }
        }
        return (rows, late)
    }

    /// Compaction of the first `count`: of each key the newest among them is kept.
    static func compacted(_ words: [Word], first count: Int) -> [Word] {
        words.indices.filter { index in
            index >= count || !words[(index + 1)..<count].contains { $0.key == words[index].key }
        }.map { words[$0] }
    }

    static let rules: [(log: String, holds: String, late: String)] = [
        ("1! 1:a=x", "a=x", ""),
        // Before the next owner's first word what the last one wrote counts, behind it no more.
        ("1! 1:a=x 1:a=y 2!", "a=y", ""),
        ("1! 1:a=x 2! 1:a=y", "a=x", "a"),
        // Any row of the later owner is its word as well as its mark.
        ("1! 1:a=x 2:b=z 1:a=y", "a=x b=z", "a"),
        // Epochs that never got to a row change nothing; nor does a mark that came too late.
        ("1! 1:a=x 4! 3! 3:a=y", "a=x", "@ a"),
    ]

    @Test("All but what an owner wrote behind a later one's first word", arguments: rules)
    func rule(log: String, holds: String, late: String) {
        let folded = Self.fold(log.split(separator: " ").map(Word.init))
        #expect(folded.rows.map { "\($0)=\($1)" }.sorted().joined(separator: " ") == holds)
        #expect(folded.late.sorted().joined(separator: " ") == late)
    }

    @Test(
        "A row of an epoch above the reader's that nobody opened does not count, nor does it end an ownership",
        arguments: [
            ("1! 1:a=x 7:a=y 1:a=z", "a=z", "a"), ("1! 1:a=x 4611686018427387904:b=y", "a=x", "b"),
            // A later owner's first rows stand before its mark, which ends the reader's ownership.
            ("1! 1:a=x 2:a=x 2! 2:b=y", "a=x b=y", "a"),
        ] as [(log: String, holds: String, late: String)])
    func unopened(log: String, holds: String, late: String) {
        let folded = Self.fold(log.split(separator: " ").map(Word.init), own: 1)
        #expect(folded.rows.map { "\($0)=\($1)" }.sorted().joined(separator: " ") == holds)
        #expect(folded.late.sorted().joined(separator: " ") == late)
    }

    /// What owners leave behind, who append again what holds of every late key, and then their mark.
    static let histories = [
        "1! 1:a=x 2! 1:a=late 2:a=x 3! 3:b=y",
        // Found by the owner after the next, whose mark takes the place of the one by which it is known.
        "1! 1:a=x 2! 1:a=late 3:a=x 3!",
        // The row that it was known by is written anew.
        "1! 1:a=x 1:b=p 2:b=q 1:a=late 3:a=x 3! 3:b=r",
        // A mark that came too late takes the place of the one that holds, which is said again last.
        "1! 1:a=x 3! 2! 2:a=late 3:a=x 3!",
        "1! 1:a=x 2! 1:a=late 1:b=late 3:b=none 3:a=x 3! 4! 4:b=z",
    ]

    @Test("Compaction changes nothing of it, however far it has come", arguments: histories)
    func compaction(history: String) {
        let words = history.split(separator: " ").map(Word.init)
        let whole = Self.fold(words).rows
        for count in 0...words.count {
            #expect(Self.fold(Self.compacted(words, first: count)).rows == whole, "\(count)")
        }
    }

    @Test("It would, if a mark were taken away before what came behind it was folded: hence the lag of compaction")
    func lag() {
        // Epoch 3 has not folded yet what came before its mark.
        let words = "1! 1:a=x 2! 1:a=late 3!".split(separator: " ").map(Word.init)
        #expect(Self.fold(words).rows == ["a": "x"])
        #expect(Self.fold(Self.compacted(words, first: words.count)).rows == ["a": "late"])
        // Younger than the lag, neither the late row nor the mark takes another's place.
        #expect(Self.fold(Self.compacted(words, first: words.count - 2)).rows == ["a": "x"])
        // A late row that nobody folded for longer than that may cost what it hides: it is made again, and never counts.
        #expect(Self.fold(Self.compacted(words, first: words.count - 1)).rows == [:])
    }

    private static func epoch(_ end: Int64, _ generation: Int64) -> Int64 {
        GroupEpoch.epoch(changelogEnd: end, generation: generation)
    }

    /// The epoch of who had reckoned one of `epoch(end, generation)` when the changelog was recreated.
    private static func after(_ end: Int64, _ generation: Int64) -> Int64 {
        GroupEpoch.after(epoch(end, generation), 0)
    }

    /// The changelog was recreated, and each row stands at its place in the list.
    @Test(
        "Where an epoch is of another log, generations tell the later",
        arguments: [
            // Who owned the old log goes on; the next owner's rows count, and those of the old one behind them do not.
            ([epoch(900, 5), epoch(900, 5), epoch(2, 6), epoch(900, 5)], [true, true, true, false]),
            // Who goes on in a later epoch, and what it had begun to append before.
            ([epoch(900, 5), epoch(901, 5), epoch(900, 5)], [true, true, false]),
            // Who goes on in a later epoch was stopped, and lands where the next owner's log is longer than its number says.
            (
                [after(2, 5), epoch(1, 6), epoch(1, 6), epoch(1, 6), after(2, 5), epoch(4, 7), after(2, 5)],
                [true, true, true, true, false, true, false]
            ),
            // In one log, the end does.
            ([epoch(0, 5), epoch(1, 6), epoch(2, 4), epoch(1, 6)], [true, true, true, false]),
        ])
    func otherLog(epochs: [Int64], counted: [Bool]) {
        var fold = EpochFold(after: 0, upTo: 0, own: Self.epoch(4, 7), since: 4)
        for (offset, (epoch, counts)) in zip(epochs, counted).enumerated() {
            let isCounted = fold.counts(written: epoch, at: Int64(offset))
            #expect(isCounted == counts, "\(offset)")
        }
    }

    @Test(
        "A later owner is given way to; an epoch that was told before the reader came is outbid",
        arguments: [
            (epoch(3, 4), 3, epoch(900, 9), true, false), (epoch(3, 4), 2, epoch(900, 9), true, true),
            (epoch(3, 9), 2, epoch(900, 4), false, false), (epoch(3, 9), 3, epoch(1, 4), false, false),
            // By an index that was told of it in its own log, whose end has passed it.
            (epoch(27, 7), 27, epoch(2, 1_005), false, false),
        ] as [(Int64, Int64, Int64, Bool, Bool)])
    func rival(own: Int64, end: Int64, other: Int64, isOutbid: Bool, isOver: Bool) {
        var fold = EpochFold(after: 0, upTo: 0, own: own, since: end)
        _ = fold.counts(written: other, opened: other, at: 2)
        #expect(fold.isOutbid == isOutbid && fold.isOver == isOver)
        let raised = GroupEpoch.after(own, other)
        fold = EpochFold(after: fold.epoch, upTo: 3, own: raised, since: end)
        let counts = fold.counts(written: raised, at: 10)
        #expect(counts && !fold.isOutbid && !fold.isOver)
    }

    @Test("An epoch of which an index tells that is folded to the log's end was told before the reader came")
    func toldByIndex() {
        // Generations began anew since one went on in a recreated changelog.
        var fold = EpochFold(after: Self.after(2, 500), upTo: 3, own: Self.epoch(3, 1), since: 3)
        let counts = fold.counts(written: Self.epoch(3, 1), opened: Self.epoch(3, 1), at: 3)
        #expect(!counts && fold.isOutbid && !fold.isOver)
    }

    /// It comes with the group's next generation, with its first one, or came before the changelog was recreated.
    @Test(
        "An index that 0.1.0 published behind its own fence in a recreated changelog counts for every reader",
        arguments: [(epoch(3, 6), 3), (epoch(3, 1), 3), (epoch(700, 4), 0)] as [(Int64, Int64)])
    func published(own: Int64, end: Int64) {
        var fold = EpochFold(after: 0, upTo: 0, own: own, since: end)
        let raised = Self.epoch(901, 5)
        let counts = [fold.counts(written: raised, opened: raised, at: 0), fold.counts(written: raised, at: 1)]
        #expect(counts == [true, true])
    }

    /// `parked` has far fewer records than the changelog, whose offsets are in the epochs.
    @Test("In `parked` the later generation counts, at whatever offset, also if the changelog was recreated in between")
    func byGeneration() {
        var fold = EpochFold(after: 0, upTo: 0, own: Self.epoch(2, 5), since: 1, isReckonedHere: false)
        let (new, old) = (Self.epoch(2, 5), Self.epoch(5, 3))
        let counts = [
            fold.counts(written: new, opened: new, at: 0), fold.counts(written: old, opened: old, at: 1),
            fold.counts(written: new, at: 2),
        ]
        #expect(counts == [true, false, true] && !fold.isOver)
    }

    @Test("In `parked` an owner outbids earlier ones whose group's generations began again")
    func outbid() {
        let earlier = Self.epoch(800, 37)
        let own = GroupEpoch.after(Self.epoch(900, 1), earlier)
        var fold = EpochFold(after: 0, upTo: 0, own: own, since: 2, isReckonedHere: false)
        let counts = [
            fold.counts(written: earlier, opened: earlier, at: 0), fold.counts(written: earlier, at: 1),
            fold.counts(written: own, opened: own, at: 2), fold.counts(written: earlier, at: 3),
        ]
        #expect(counts == [true, true, true, false] && !fold.isOver)
    }

    /// Compaction removes an epoch row once a later one is there, and leaves the rows of its epoch.
    @Test("In `parked`, a row from before the reader counts without its epoch row, and says nothing about the epoch")
    func withoutEpochRow() {
        let (own, outbid) = (Self.epoch(900, 1), Int64(1) << 52 | 1)
        var fold = EpochFold(after: 0, upTo: 0, own: own, since: 4, isReckonedHere: false)
        let counts = [
            fold.counts(written: outbid, at: 1), fold.counts(written: own - 1, at: 2),
            fold.counts(written: outbid + 1, opened: outbid + 1, at: 3), fold.counts(written: outbid, at: 3),
            fold.counts(written: outbid + 2, at: 4),
        ]
        #expect(counts == [true, true, true, false, false] && fold.epoch == outbid + 1)
    }

    @Test("A row that is published before its fence counts for who comes later, and a forged one for nobody")
    func unopenedOfAnotherLog() {
        let raised = Self.epoch(901, 5)
        for (own, isUnopened) in [(Self.epoch(3, 6), false), (raised, false), (Self.epoch(700, 4), true)] {
            let fold = EpochFold(after: 0, upTo: 0, own: own, since: 3)
            #expect(fold.isUnopened(written: raised, opened: nil, at: 1) == isUnopened)
        }
        let own = Self.epoch(3, 6)
        for forged in [Self.epoch(901, 7), Self.epoch(3, 7), .max] {
            var fold = EpochFold(after: own, upTo: 4, own: own, since: 3)
            let counts = fold.counts(written: forged, at: 5)
            #expect(!counts && fold.epoch == own && !fold.isOver)
        }
    }
}
