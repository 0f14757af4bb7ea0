internal import ImageModel
internal import Records

extension Findings {
    var killer: Diagnosis? {
        for number in 0..<state.partitionCount {
            guard let progress = state.partitions[number].progress, progress.deaths >= 2, !progress.suspects.isEmpty,
                progress.at > now - Self.letterMilliseconds
            else { continue }
            let suspects = progress.suspects.sorted { ($0.deaths, $1.offset) > ($1.deaths, $0.offset) }
            let named = suspects.prefix(3).map {
                "\(RecordOrigin(topic: $0.topic, partition: progress.partition, offset: $0.offset))"
            }.joined(separator: ", ")
            let more = suspects.count > 3 ? " and \(suspects.count - 3) more" : ""
            let records = suspects.count > 1 ? "one of the records \(named)\(more)" : "the record \(named)"
            return Diagnosis(
                .killerJob,
                "Workers die of a job: the owners of partition \(number) died \(progress.deaths) times, and \(records) may be why.",
                since: progress.at)
        }
        return nil
    }

    /// It is over: what is late now has another cause.
    var killed: Diagnosis? {
        guard let letter = state.letters.newest(JobFailure.Code.poison.rawValue, since: now - Self.letterMilliseconds)
        else { return nil }
        return Diagnosis(
            .killerJob,
            "Workers died of the job \(Words.cut(letter.id, 80)), which was set aside at \(Words.clock(letter.at)).",
            since: letter.at)
    }

    var pinned: Diagnosis? {
        let pins = report.partitions.compactMap { partition in partition.pinned.map { (partition, $0) } }
        guard isLate, let (partition, pin) = pins.first else { return nil }
        let others = pins.count > 1 ? "; \(pins.count - 1) more are like that" : ""
        return Diagnosis(
            .pinned,
            "Partition \(partition.number) is held at \(pin) by one unfinished job, at \(Words.cut(partition.owner ?? "nobody", 80))\(others).",
            since: state.place(pin.topic, partition.number).movedAt)
    }

    var saturated: Diagnosis? {
        guard isLate else { return nil }
        let late = report.lanes.filter { $0.isLate(at: now) }.map(\.lane.title)
        return Diagnosis(
            .saturated,
            "\(late.joined(separator: " and ")) \(late.count > 1 ? "have" : "has") more to do than is done.",
            since: report.lanes.compactMap(\.lag.oldest).min())
    }

    var deadLetters: Diagnosis? {
        guard let count = report.letters, count > 0 else { return nil }
        let newest = state.letters.newest.map { ", the newest since \(Words.clock($0.at)) (\($0.code))" } ?? ""
        return Diagnosis(
            .deadLetters,
            "\(report.hasMoreLetters ? "At least " : "")\(Words.count(count)) dead letter\(count == 1 ? " waits" : "s wait") for a person\(newest).",
            since: nil)
    }

    var fine: Diagnosis { Diagnosis(.fine, "Jobs are begun in time.", since: nil) }
}
