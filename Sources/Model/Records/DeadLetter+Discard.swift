package import Clocks

extension DeadLetter {
    /// Name by which a tombstone discards a dead letter, and the letters of the same record's earlier replays.
    ///
    /// A job keeps its id when it is replayed. If it dies again before its first dead letter is discarded, the discard
    /// must not cover the newer letter, too.
    package struct Name: Sendable, Hashable {
        package let id: String
        /// nil: every letter of the id. Tombstones of versions before 0.2.0 name no record.
        private let origin: RecordOrigin?
        private let replays: Int

        package init(id: String, origin: RecordOrigin? = nil, replays: Int = 0) {
            (self.id, self.origin, self.replays) = (id, origin, replays)
        }

        /// nil if the headers of a tombstone discard no dead letter.
        package init?(discardedBy headers: RecordHeaders) {
            func text(_ name: String) -> String? { headers.withFirst(name) { String(decoding: $0, as: UTF8.self) } }
            guard let id = text(EventHeader.discards) else { return nil }
            self.init(id: id, origin: text(EventHeader.origin).flatMap { RecordOrigin($0) }, replays: headers.replays)
        }

        package func covers(_ deadLetter: DeadLetter) -> Bool {
            covers(id: deadLetter.id, origin: deadLetter.origin, replays: deadLetter.replays)
        }

        package func covers(id: String, origin: RecordOrigin?, replays: Int) -> Bool {
            guard id == self.id else { return false }
            return self.origin == nil || (origin == self.origin && replays <= self.replays)
        }

        /// Whether it covers the dead letter of these headers.
        package func covers(_ headers: RecordHeaders) -> Bool {
            func text(_ name: String) -> String? { headers.withFirst(name) { String(decoding: $0, as: UTF8.self) } }
            guard let id = text(EventHeader.id) else { return false }
            return covers(
                id: id, origin: text(EventHeader.origin).flatMap { RecordOrigin($0) }, replays: headers.replays)
        }
    }

    /// Record that removed a dead letter from the list.
    package struct Discard: Sendable, Hashable {
        package let deadLetter: Name
        package let at: WallTime
        /// Id under which the job was published again; nil if it was not. Since 0.2.0 it is the job's own id.
        package let replayedAs: String?

        /// nil if the record discards no dead letter.
        package init?(_ record: Record) {
            guard record.value == nil, let deadLetter = Name(discardedBy: record.headers) else { return nil }
            (self.deadLetter, at, replayedAs) = (deadLetter, record.timestamp, record.header(EventHeader.replayedAs))
        }
    }
}
