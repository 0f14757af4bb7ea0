internal import Canonical
internal import Digest
internal import ImageModel
internal import Ports
internal import SQLite

/// The data of one source in an index file, and the id of its row.
struct FoundSource {
    var id: Int64?
    var snapshot = SourceSnapshot()
}

/// Changes of one transaction, grouped by source so that each row is read and written once.
struct IndexBatch {
    /// Sources in the order of first mention: new rows are written in changelog order, at the table's end.
    private(set) var found: [(source: SourceKey, found: FoundSource)] = []
    private var places: [SourceKey: Int] = [:]

    /// Applies a change; returns false if the source's row is damaged.
    mutating func apply(_ change: IndexChange, _ file: IndexFile) throws(SQLiteFailure) -> Bool {
        guard let place = try place(of: change.source, file) else { return false }
        found[place].found.snapshot.apply(change)
        return true
    }

    private mutating func place(of source: SourceKey, _ file: IndexFile) throws(SQLiteFailure) -> Int? {
        if let place = places[source] { return place }
        guard let known = try file.find(source) else { return nil }
        places[source] = found.count
        found.append((source, known))
        return found.count - 1
    }
}

extension IndexFile {
    /// Finds a source's row; empty if there is none, nil if it is damaged.
    func find(_ source: SourceKey) throws(SQLiteFailure) -> FoundSource? {
        defer { find.reset() }
        find.bind(1, source.prefix)
        while try find.step() {
            switch find.withBytes(1, { RowCoding.decode($0, of: source) }) {
            case .snapshot(let snapshot): return FoundSource(id: find.integer(0), snapshot: snapshot)
            case .another: continue
            case .damaged: return nil
            }
        }
        return FoundSource()
    }

    func rows(of sources: some Sequence<SourceKey>) throws(SQLiteFailure) -> PackedRows {
        var rows = PackedRows()
        for source in sources {
            defer { find.reset() }
            find.bind(1, source.prefix)
            rows.add(source)
            while try find.step() { find.withBytes(1) { rows.add($0) } }
        }
        return rows
    }

    func page(after place: Int64, limit: Int) throws(SQLiteFailure) -> SavedIndex.Page {
        defer { pages.reset() }
        pages.bind(1, place)
        pages.bind(2, Int64(limit))
        var page = SavedIndex.Page()
        while try pages.step() {
            page.end = pages.integer(0)
            if case .snapshot(let snapshot)? = pages.withBytes(1, RowCoding.decode) {
                page.snapshots.append(snapshot)
            } else {
                page.damaged += 1
            }
        }
        return page
    }

    func save(_ found: FoundSource, of source: SourceKey) throws(SQLiteFailure) {
        let isEmpty = found.snapshot.source == nil && found.snapshot.variants.isEmpty
        switch (found.id, isEmpty) {
        case (nil, true): break
        case (nil, false):
            insert.bind(1, source.prefix)
            insert.bind(2, RowCoding.encode(found.snapshot, of: source))
            try insert.run()
        case (let id?, true):
            delete.bind(1, id)
            try delete.run()
        case (let id?, false):
            update.bind(1, id)
            update.bind(2, RowCoding.encode(found.snapshot, of: source))
            try update.run()
        }
    }
}

extension SourceSnapshot {
    fileprivate mutating func apply(_ change: IndexChange) {
        switch change {
        case .source(let row): source = row
        case .dropSource: source = nil
        case .dropVariant(_, let spec): variants.removeAll { $0.spec == spec }
        case .variant(let row):
            if let place = variants.firstIndex(where: { $0.spec == row.spec }) {
                variants[place] = row
            } else {
                variants.append(row)
            }
        }
    }
}

extension SourceKey {
    /// The key's first eight bytes; the whole key is compared in the row.
    fileprivate var prefix: Int64 { Int64(bitPattern: digest.words.0) }
}
