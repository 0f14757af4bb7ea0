import Partition
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
        var (epochs, rows, late) = (EpochFold(after: 0, own: own), [Substring: Substring](), Set<Substring>())
        for word in words {
            if !epochs.counts(written: word.epoch, opened: word.isMark ? word.epoch : nil) {
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
}
