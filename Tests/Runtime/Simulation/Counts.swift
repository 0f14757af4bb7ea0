/// How often each thing happened: a run in which one never did has not looked at it.
package struct Counts: Sendable {
    package private(set) var events = [Int](repeating: 0, count: Happening.allCases.count)

    package init() {}

    mutating func add(_ happening: Happening) { events[happening.rawValue] += 1 }
    package subscript(_ happening: Happening) -> Int { events[happening.rawValue] }

    package static func += (sum: inout Counts, other: Counts) {
        for index in sum.events.indices { sum.events[index] += other.events[index] }
    }

    /// What never happened.
    package var missing: [Happening] { Happening.allCases.filter { self[$0] == 0 } }
}

/// Every kind of fault, and every step of the product that can be seen from outside.
package enum Happening: Int, Sendable, CaseIterable {
    // Faults of processes and the group.
    case killed, terminated, zombie, paused, sessionExpired, rebalance, commitLost, commitRefused, revokedLate
    case leftEarly, diskLost, diskOlder, diskForeign, clockForward, clockBack, clockWrong
    // Of the log.
    case appendLost, appendUnknown, appendFull, appendTimedOut, appendTooLarge, appendOfOldOwnerRefused
    case progressRefused, lostWithKill, landedAfterKill, zombieLanded, questionFailed, readFailed, logSlow, topicAway
    case changelogRecreated, gap
    case compacted, truncated, recreated, retained, offsetsExpired, resetEarliest, resetLatest, wentBack
    // Of the store and the index.
    case storeFull, storeFailing, storeForeign, storeSlow, blobGone, blobTorn, donorGone, indexDamaged, indexAway,
        indexWiped, indexSetAside
    // Of origins and renderers.
    case originFailed, originStalled, originAsked, originGone, originChanged, originConfirmed, hostilePicture
    // An answer led to another URL of its host, and to another host.
    case originMoved, originLedAway
    case rendererCrashed, rendererHung, rendererAbsent, variantRefused
    // What publishers do.
    case flooded, published, publishedExpiring, publishedForeign, publishedMisplaced, publishedLarge, publishedBurst
    case publishedForced, publishedCacheOnly, publishedControl
    case publishedPause, publishedResume
    // What becomes of controls.
    case cancelled, controlEnded
    // What workers do.
    case assigned, assignedInPart, revoked, lost, marked, leftClean, progressWritten, republished,
        indexPublished, rewound,
        restarted
    case fetched, fetchLate, slowBegan, slowAged, render, reuse, rowStored, sourceStored, rowDropped, retried,
        movedAside, waited, rekeyed, deadLetter
    case stored, reused, unchanged, failed, expired, dead, answeredAgain
    // What they do beside answers while origins fail and change.
    case stale, degraded, owed, revalidating, refreshed, changeTold
    // Jobs are parked for the host that a redirect led to.
    case awaitedElsewhere
    // What they tell one another.
    case slotPassed, hostSlowed, hostBlocked, hostProbed, hostOpened
    // What they say to people.
    case saidUnanswered, saidForgotten, saidExpired, saidRecreated
    // Jobs that kill workers.
    case publishedKiller, killedByJob, poison
    // Jobs whose origins never answer well.
    case publishedHopeless
    // A slow backlog of one host, and fast jobs beside it.
    case publishedBacklog
    // Jobs whose time passes while their source is fetched, and such fetches that ended for it.
    case publishedImpatient, fetchAborted
    // Parked jobs.
    case parkedMarked, parked, unparked, parkedTooLate, parkedLookedAt, parkedStarted
}
