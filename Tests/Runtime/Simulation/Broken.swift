/// A rule that was broken: by which checker, when, and how.
package struct Broken: Sendable, Hashable, CustomStringConvertible {
    package let rule: Rule
    /// Microseconds of virtual time.
    package let time: Int64
    package let what: String

    package var description: String { "\(rule.rawValue) at \(time / 1_000) ms: \(what)" }
}

/// What holds in every run, whatever fails.
package enum Rule: String, Sendable, CaseIterable {
    /// No committable offset, of the group or of a progress row, passes an unfinished record.
    case committable = "a committable offset passes an unfinished record"
    case singleFlight = "two flights of one source in one ownership"
    case lanes = "a slow flight begins while a fast one waits"
    case room = "a fast job is parked while fast jobs of its host leave room"
    case permits = "more fetches run than there are permits, and late ones beside them"
    case ceiling = "more requests at once at a host than its ceiling"
    case third = "more slow requests of one worker at a host than a third of its slots"
    case politeness = "a host is asked before the time that it has named"
    case aged = "an aged slow flight does not begin"
    case progress = "a partition stands still while its topics answer"
    case waits = "something waits for ever"
    case memory = "memory is not bounded"
    case answered = "an outcome is of no job, or cannot be read"
    case repeated = "a job was answered again without a cause"
    case attempts = "a job was tried more often than the rule allows"
    case abandoned = "a fetch runs though all its jobs have expired"
    case stored = "an announced variant is not in the store"
    case fenced = "a fenced row lives"
    case index = "an index is not the fold of its changelog"
    case published = "a restored changelog lacks a row that its owner knew"
    case order = "an answer came before its rows were folded"
    case promises = "a stale answer is owed nothing, a debt is paid in silence, or a change is told again and again"
    case poison = "a job kills more owners than three, or another is set aside for it"
    case parkedStart = "a parked job starts before its owner knows the parked jobs"
    case parkedEnd = "a parked job's row is deleted before its outcome"
    case parkedOrder = "a parked job starts before an older one, or a slow one before a fast one, of its host"
    case parkedRoom = "a parked job waits though its host has room"
    case control = "a control reaches a job that it does not name, or ends before one that it names"
    case paused = "a fetch or render begins that a pause holds back"
    case resumed = "a pause outlives its end"
    case said = "a worker tells of what nobody did"
    case ended = "a worker did not end, or ended by itself"
}
