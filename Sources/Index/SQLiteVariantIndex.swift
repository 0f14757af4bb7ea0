internal import ImageModel
internal import Ports
internal import SQLite

/// Variants and sources of one partition in one SQLite file: a fold of the changelog that may be deleted at any time.
///
/// - Failure: damage found while reading puts the file aside at once, so that opening it again gives an empty index.
final class SQLiteVariantIndex: VariantIndex {
    private let path: String
    private var file: IndexFile?
    private(set) var position: Int64?

    init(_ path: String, _ file: IndexFile, _ position: Int64?) {
        (self.path, self.file, self.position) = (path, file, position)
    }

    func snapshot(of source: SourceKey) throws(IndexFailure) -> SourceSnapshot {
        try using { (file) throws(SQLiteFailure) in
            defer { file.snapshot.reset() }
            file.snapshot.bind(1, RowCoding.key(source))
            var snapshot = SourceSnapshot()
            while try file.snapshot.step() {
                let isSource = file.snapshot.withBytes(0) { $0.isEmpty }
                let isSound = file.snapshot.withBytes(1) { bytes in
                    if isSource {
                        snapshot.source = RowCoding.source(bytes, of: source)
                        return snapshot.source != nil
                    }
                    guard let row = RowCoding.variant(bytes, of: source) else { return false }
                    snapshot.variants.append(row)
                    return true
                }
                guard isSound else { return nil }
            }
            return snapshot
        }
    }

    func apply(_ changes: [IndexChange], upTo position: Int64) throws(IndexFailure) {
        try using { (file) throws(SQLiteFailure) in
            try file.connection.transaction { () throws(SQLiteFailure) in
                for change in changes { try file.apply(change) }
                file.setPosition.bind(1, position)
                try file.setPosition.run()
            }
        }
        self.position = position
    }

    func wipe() throws(IndexFailure) {
        try using { (file) throws(SQLiteFailure) in
            try file.connection.transaction { () throws(SQLiteFailure) in
                try file.connection.execute("DELETE FROM rows; DELETE FROM position")
            }
        }
        position = nil
    }

    func close() { file = nil }

    /// `body` returns nil for a row that is damaged.
    private func using<Result>(_ body: (IndexFile) throws(SQLiteFailure) -> Result?) throws(IndexFailure) -> Result {
        guard let file else { throw .unavailable(path: path, reason: "it is closed") }
        let reason: String
        do throws(SQLiteFailure) {
            if let result = try body(file) { return result }
            reason = "a row is not as it was written"
        } catch {
            guard error.isCorrupt else { throw .unavailable(path: path, reason: error.description) }
            reason = error.description
        }
        close()
        IndexFile.setAside(path)
        throw .corrupt(path: path, reason: reason)
    }
}

extension IndexFile {
    fileprivate func apply(_ change: IndexChange) throws(SQLiteFailure) {
        switch change {
        case .source(let row): try put(row.source, "", RowCoding.encode(row))
        case .variant(let row): try put(row.source, row.spec.description, RowCoding.encode(row))
        case .dropSource(let source): try drop(source, "")
        case .dropVariant(let source, let spec): try drop(source, spec.description)
        }
    }

    private func put(_ source: SourceKey, _ spec: String, _ body: [UInt8]) throws(SQLiteFailure) {
        put.bind(1, RowCoding.key(source))
        put.bind(2, spec)
        put.bind(3, body)
        try put.run()
    }

    private func drop(_ source: SourceKey, _ spec: String) throws(SQLiteFailure) {
        drop.bind(1, RowCoding.key(source))
        drop.bind(2, spec)
        try drop.run()
    }
}
