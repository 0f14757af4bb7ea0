package import Canonical
package import Clocks
internal import Failures
internal import ImageModel
package import Records

/// Reads records that any client may have written. It keeps no data of a job that must not be shown.
package struct RecordReading: Sendable {
    private let rules: CanonicalRules
    private let intake: Intake
    private let groups: [OriginGroup]

    package init(rules: CanonicalRules, groups: [OriginGroup] = []) {
        (self.rules, intake, self.groups) = (rules, Intake(rules: rules), groups)
    }

    /// Sample of the unfinished records of a topic-partition, from its first on. Of `parked`, the rows
    /// among its newest records that no later record deletes.
    package func sample(_ records: [Record], of topic: Topic, _ partition: PartitionID) -> PlaceSample {
        var sample = PlaceSample(topic, partition)
        if topic == .parked {
            for row in Self.standing(records).prefix(PlaceSample.most) {
                sample.count(
                    .init(
                        lane: row.worksAs.rawValue, host: row.host.description, code: Words.cut(row.note.cause.code, 60)),
                    since: row.note.firstSeen, message: shown(row.note.cause.message, 240))
            }
            return sample
        }
        for record in records.prefix(PlaceSample.most) {
            let host = host(of: record)
            if let note = try? RetryNote(record) {
                sample.count(
                    .init(lane: note.lane.rawValue, host: host, code: Words.cut(note.cause.code, 60)),
                    since: note.firstSeen, message: shown(note.cause.message, 240))
            } else {
                sample.count(
                    .init(
                        lane: topic.lane?.rawValue ?? "unknown", host: host, code: topic.lane == nil ? "unknown" : nil),
                    since: record.timestamp)
            }
        }
        return sample
    }

    /// Rows that no later record deletes, in the order of their records.
    private static func standing(_ records: [Record]) -> [ParkedRow] {
        var rows: [[UInt8]: (row: ParkedRow, offset: Int64)] = [:]
        for record in records {
            switch try? ParkedEntry(record) {
            case .change(.park(let row, let offset)): rows[record.key] = (row, offset)
            case .change(.drop): rows[record.key] = nil
            case .epoch, nil: break
            }
        }
        return rows.values.sorted { $0.offset < $1.offset }.map(\.row)
    }

    /// Host of the record. Empty if it names none.
    private func host(of record: Record) -> String {
        intake.url(ofRefused: record).map { groups.origin(of: $0.fetched).description } ?? ""
    }

    /// Ends of jobs in records of `outcomes`. Cancelled jobs are no failures, and unreadable records are skipped.
    package func ends(_ records: [Record]) -> [JobEnd] {
        records.compactMap { record in
            guard let report = try? OutcomeReport(record), report.kind != .cancelled else { return nil }
            let host = groups.origin(of: report.url).description
            // The worker's clock or the brokers' may be behind this one: outcomes that were just read would count as
            // old.
            let at = max(report.at, record.timestamp)
            guard !report.kind.isSuccess else { return JobEnd(report.kind, host: host, at: at) }
            let url = ShownURL(report.url, hiding: rules.hidden).description
            // An expired job has no failure: its own deadline passed.
            return JobEnd(
                report.kind, code: Words.cut(report.failure?.code ?? report.kind.rawValue, 60), host: host,
                message: shown(report.failure?.message ?? report.kind.meaning), job: Words.cut(report.job),
                url: Words.cut(url, 2_048), source: report.source?.hex, at: at)
        }
    }

    /// Every outcome, for a source's page.
    package func allEnds(_ records: [Record]) -> [SourceReport.End] {
        records.compactMap { record in
            guard let report = try? OutcomeReport(record) else { return nil }
            return SourceReport.End(
                job: report.job, kind: report.kind.rawValue, code: report.failure?.code,
                message: report.failure.map { shown($0.message) }, at: report.at,
                url: ShownURL(report.url, hiding: rules.hidden).description)
        }
    }

    /// Waiting jobs, for a source's page.
    ///
    /// - Parameter blocked: the result of `WatchState.blockedHosts`. Jobs of these hosts do not start before the given
    ///   times.
    package func waiting(_ records: [Record], blocked: [String: WallTime] = [:]) -> [SourceReport.Waiting] {
        records.map { record in
            let note = try? RetryNote(record)
            return SourceReport.Waiting(
                job: note?.job ?? intake.id(ofRefused: record), topic: record.topic.rawValue, code: note?.cause.code,
                message: note.map { shown($0.cause.message) }, since: note?.firstSeen ?? record.timestamp,
                notBefore: [note?.notBefore, blocked[note?.host?.description ?? host(of: record)]].compactMap { $0 }.max())
        }
    }

    package func deadLetters(_ records: [Record], of partition: PartitionID, isWhole: Bool) -> DeadLetterChange {
        var change = DeadLetterChange(partition, isWhole: isWhole)
        for record in records {
            if record.value == nil {
                guard let name = DeadLetter.Name(discardedBy: record.headers) else { continue }
                // A dead letter that was added and discarded within these records was never open.
                change.added.removeAll { name.covers(id: $0.id, origin: $0.origin, replays: $0.replays) }
                change.discarded.append(name)
            } else if let deadLetter = try? DeadLetter(record) {
                change.added.append(
                    .init(
                        id: deadLetter.id, code: Words.cut(deadLetter.cause.code, 60),
                        host: deadLetter.url.map { groups.origin(of: $0.description).description } ?? "", at: deadLetter.at,
                        origin: deadLetter.origin, replays: deadLetter.replays, offset: record.offset, message: shown(deadLetter.cause.message, 240)))
            }
        }
        return change
    }

    /// State of hosts in records of `origins`.
    package func hosts(_ records: [Record]) -> [OriginRow] {
        records.compactMap { record in
            guard var row = OriginRow(record) else { return nil }
            (row.host, row.by) = (Words.cut(row.host, 300), Words.cut(row.by))
            row.code = row.code.map { Words.cut($0, 60) }
            return row
        }
    }

    /// Owner of the partition and the progress of its owners, from records of `variants`: the newest row of each.
    package func ownership(_ records: [Record]) -> [WatchEvent] {
        var (epoch, progress): (EpochRow?, ProgressRow?)
        for record in records where record.key.first == UInt8(ascii: "@") {
            switch try? ChangelogEntry(record) {
            case .epoch(let row): epoch = row
            case .progress(let row): progress = row
            case .change, nil: continue
            }
        }
        return (epoch.map { [.epoch($0)] } ?? []) + (progress.map { [.progress($0)] } ?? [])
    }

    /// Message without hidden parts. Outcomes and dead letters of older workers contain unfiltered texts.
    private func shown(_ message: String, _ limit: Int = 1_024) -> String {
        Words.cut(rules.hidden.hide(in: message), limit)
    }
}
