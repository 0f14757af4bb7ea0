internal import Clocks
internal import ImageModel
internal import JSONText
internal import Ports
internal import Records

extension WatchReport {
    /// `/api/v1/state`, which scripts rely on. config/lagwatch.md describes each field. Unknown values are null.
    package var json: [UInt8] {
        var json = JSONWriter(reserving: 1 << 16)
        json.beginObject()
        json.field("sentence", diagnosis.sentence)
        json.field("cause", diagnosis.cause.rawValue)
        json.field("action", diagnosis.action)
        json.optional("since", time: diagnosis.since)
        json.optional("at", time: at)
        json.optional("respondedAt", time: respondedAt)
        json.objects("lanes", lanes) { $0.write($1, at: at, marks) }
        json.objects("pauses", pauses) { $0.write($1) }
        json.objects("waits", waits) { $0.write($1, action(of: $1)) }
        json.object("sampled") { json in
            json.field("topicPartitions", sampled.topicPartitions)
            json.field("of", sampled.of)
        }
        json.objects("failures", failures) { $0.write($1) }
        json.object("ended") { json in
            json.field("jobs", ended.jobs)
            json.field("failed", ended.failed)
            json.field("expired", ended.expired)
        }
        json.object("lost") { json in
            json.field("records", Int(loss?.records ?? 0))
            json.optional("lastSeen", time: loss?.last)
        }
        json.optional("deadLetters", deadLetters)
        json.field("moreDeadLetters", hasMoreDeadLetters)
        json.objects("partitions", partitions) { $0.write($1, at: at) }
        json.objects("workers", workers) { $0.write($1) }
        if let troubledHosts {
            json.objects("hosts", troubledHosts) { $0.write($1) }
        } else {
            json.key("hosts")
            json.null()
        }
        json.endObject()
        json.endLine()
        // It may be read on a terminal. See `PlainText`.
        return Array(PlainText.of(json.withBytes { String(decoding: $0, as: UTF8.self) }, keepingLines: true).utf8)
    }
}

extension JSONWriter {
    fileprivate mutating func optional(_ name: StaticString, _ value: (some BinaryInteger)?) {
        key(name)
        if let value { integer(value) } else { null() }
    }

    fileprivate mutating func optional(_ name: StaticString, _ value: Double?) {
        key(name)
        // Three digits cover the known precision.
        if let value { number((value * 1000).rounded() / 1000) } else { null() }
    }

    fileprivate mutating func optional(_ name: StaticString, _ value: String?) {
        key(name)
        if let value { string(value) } else { null() }
    }

    fileprivate mutating func optional(_ name: StaticString, time value: WallTime?) {
        key(name)
        if let value { time(value) } else { null() }
    }

    fileprivate mutating func seconds(_ name: StaticString, _ value: Duration?) {
        optional(name, value.map(\.seconds))
    }

    fileprivate mutating func write(
        _ lane: WatchReport.LaneReport, at now: WallTime, _ marks: [(at: WallTime, text: String)]
    ) {
        field("lane", lane.lane.rawValue)
        seconds("oldestSeconds", lane.age(at: now))
        seconds("readySeconds", lane.ready.map { max(.zero, now - $0) })
        seconds("targetSeconds", lane.target)
        field("late", lane.isLate(at: now))
        optional("waiting", lane.lag.records)
        optional("parked", lane.parked?.jobs)
        optional("inPerSecond", lane.rates?.in)
        optional("donePerSecond", lane.rates?.out)
        optional("drainSeconds", lane.drainSeconds)
        field("unknownPartitions", lane.lag.unknown)
        objects("history", lane.minutes) { json, point in
            json.optional("at", time: point.at)
            json.seconds("oldestSeconds", point.oldest)
            json.optional("waiting", point.waiting)
            json.field("in", point.published)
            json.field("done", point.finished)
        }
        objects("marks", marks) { json, mark in
            json.optional("at", time: mark.at)
            json.field("text", mark.text)
        }
    }

    fileprivate mutating func write(_ pause: Pause) {
        field("control", pause.control)
        switch pause.scope {
        case .all: field("all", true)
        case .lane(let lane): field("lane", lane.rawValue)
        case .host(let host): field("host", host)
        }
        optional("since", time: pause.since)
        optional("until", time: pause.until)
        optional("by", pause.by)
        optional("why", pause.why)
    }

    fileprivate mutating func write(_ wait: WatchReport.WaitReport, _ action: String) {
        field("reason", wait.reason.rawValue)
        field("lane", wait.lane)
        optional("host", wait.host.isEmpty ? nil : wait.host)
        optional("code", wait.code)
        field("jobs", Int(wait.jobs.rounded()))
        field("estimated", wait.isEstimate)
        optional("since", time: wait.since)
        optional("message", wait.message.isEmpty ? nil : wait.message)
        field("action", action)
    }

    fileprivate mutating func write(_ host: OriginSummary) {
        field("host", host.host)
        field("state", host.state.rawValue)
        optional("code", host.code)
        optional("since", time: host.since)
        optional("until", time: host.until)
        optional("limit", host.isReported ? host.limit : nil)
        optional("inFlight", host.isReported ? host.inFlight : nil)
        waiting { host.isReported ? host.waiting[$0] : nil }
    }

    fileprivate mutating func write(_ failure: WatchReport.FailureReport) {
        field("code", failure.code)
        optional("host", failure.host.isEmpty ? nil : failure.host)
        field("count", failure.count)
        optional("source", failure.source)
        optional("firstSeen", time: failure.first)
        optional("lastSeen", time: failure.last)
        optional("message", failure.message.isEmpty ? nil : failure.message)
        optional("job", failure.job.isEmpty ? nil : failure.job)
        optional("url", failure.url.isEmpty ? nil : failure.url)
        optional("deadLetters", failure.standing)
    }

    fileprivate mutating func write(_ partition: WatchReport.PartitionReport, at now: WallTime) {
        field("partition", partition.number)
        field("state", partition.state.rawValue)
        optional("owner", partition.owner)
        optional("epoch", partition.epoch)
        for (lane, lag) in zip(Lane.allCases, partition.lanes) {
            key(named: lane.rawValue)
            self.lag(lag, at: now)
        }
        key("parked")
        lag(partition.retries, at: now)
        optional("pinnedBy", partition.pinned?.description)
        optional("message", partition.message)
    }

    private mutating func lag(_ lag: Lag, at now: WallTime) {
        beginObject()
        optional("records", lag.records)
        seconds("seconds", lag.age(at: now))
        endObject()
    }

    fileprivate mutating func write(_ worker: WatchReport.WorkerReport) {
        let figures = worker.figures
        field("address", worker.address)
        field("responds", worker.respondedAt != nil && worker.silence == nil)
        optional("respondedAt", time: worker.respondedAt)
        optional("message", worker.silence?.reason)
        optional("version", figures?.version)
        optional("client", figures?.client)
        optional("partitions", figures?.owned)
        optional("restoring", figures?.restoring)
        optional("rowsLeft", figures?.rowsLeft)
        optional("fetchPermits", figures?.fetchPermits.all)
        optional("fetchPermitsInUse", figures?.fetchPermits.used)
        optional("renderPermits", figures?.renderPermits.all)
        optional("renderPermitsInUse", figures?.renderPermits.used)
        optional("rendererLosses", figures?.rendererLosses)
        optional("memoryBytes", figures?.memory)
        optional("diskFreeBytes", figures?.diskFree.values.min())
        optional("rendererMemoryBytes", figures?.rendererMemory)
    }
}

extension WatchReport {
    private static let later = "They start once the cause at the top of the page is gone."

    /// Next step for pending jobs. It never contradicts the diagnosis.
    package func action(of wait: WaitReport) -> String {
        switch (wait.reason, diagnosis.cause) {
        case (.turn, .saturated), (.owner, .noWorker): diagnosis.action
        case (.owner, .foreignMember), (.host, .egress), (.hostSlow, .egress): Self.later
        case (.turn, let cause) where cause.stopsJobs: Self.later
        case (.host, _) where pausedHosts.contains(wait.host): Advice.unblock(wait.host)
        default: code(of: wait).flatMap { Advice.action($0, host: wait.host) } ?? wait.reason.action
        }
    }
}

extension WatchReport {
    /// Code of the reason why jobs wait. For a blocked host, it is the reason of the current or last block.
    private func code(of wait: WaitReport) -> String? {
        guard wait.reason == .host else { return wait.code }
        if let blocked = blockedHosts?.first(where: { $0.host == wait.host })?.code { return blocked }
        return wait.code?.hasPrefix("fetch.") == true ? wait.code : code(ofHost: wait.host) ?? wait.code
    }

    /// Code of the reason why jobs wait for a host: from workers' reports, else from its jobs' failures, else from its
    /// last block.
    func code(ofHost host: String) -> String? {
        blockedHosts?.first { $0.host == host }?.code
            ?? waits.first { $0.host == host && $0.code?.hasPrefix("fetch.") == true }?.code ?? hostCodes[host]
    }
}

extension WatchReport.WaitReport.Reason {
    /// Description of the reason that the jobs wait for.
    package var meaning: String {
        switch self {
        case .turn: "their turn"
        case .owner: "an owner of their partition"
        case .restore: "the restore of their partition"
        case .store: "the store"
        case .renderer: "renderers"
        case .host: "a host that refuses or does not respond"
        case .hostSlow: "a host that responds too slowly"
        case .readAhead: "space in the read-ahead"
        case .retry: "a retry"
        case .paused: "the end of a pause"
        }
    }

    package var action: String {
        switch self {
        case .turn: "They start in their turn."
        case .owner: Cause.noOwner.action
        case .restore: Cause.restoring.action
        case .store: Cause.storeHalted.action
        case .renderer: Cause.rendererHalted.action
        case .host: Cause.hostBlocked.action
        case .hostSlow: Cause.hostSlow.action
        case .readAhead: Cause.readAhead.action
        case .retry: "They are retried by themselves."
        case .paused: Cause.paused.action
        }
    }
}
