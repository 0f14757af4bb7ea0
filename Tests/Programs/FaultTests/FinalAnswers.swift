import Foundation
import Records
import TestPixels
import TestSupport
import TestWorkplace
import Testing

/// Pictures of which a third fails, so that a job that is done twice may come to another end: what trials of kills ask for.
struct FickleOrigin {
    /// What a URL's answers allow.
    private enum Temper { case well, never, byTurns }

    private static let attempts = 5
    let urls: [String]
    private let origin: LocalOrigin
    private let tempers: [String: Temper]

    init(_ place: Workplace, pictures: Int, side: Int) {
        let urls = place.draw(pictures, side: side)
        var tempers: [String: Temper] = [:]
        for number in 0..<pictures {
            let path = "/\(number).png"
            let picture = LocalOrigin.Answer.bytes(Workplace.picture(number, side: side).png, type: "image/png")
            switch number % 12 {
            case 0, 6:
                tempers[path] = .never
                place.origin.serve(path, .status(404))
            case 3:
                // Failed or stored, as it comes.
                tempers[path] = .byTurns
                place.origin.serve(path, byTurns: [.status(404), picture, .status(503), picture])
            case 9:
                // Dead or stored: as many in a row as a job has attempts, and one more.
                tempers[path] = .byTurns
                let answers = Array(repeating: LocalOrigin.Answer.status(503), count: Self.attempts + 1)
                place.origin.serve(path, byTurns: answers + [picture])
            default: tempers[path] = .well
            }
        }
        (self.urls, origin, self.tempers) = (urls, place.origin, tempers)
    }

    private func temper(_ url: String) -> Temper? { URL(string: url).flatMap { tempers[$0.path] } }

    /// Those that always answer with their picture.
    func isWell(_ url: String) -> Bool { temper(url) == .well }

    /// How often those were asked.
    var fetchesOfWell: Int { tempers.filter { $0.value == .well }.keys.reduce(0) { $0 + origin.requests(of: $1) } }

    /// Each job ended, in one way and in one that its URL allows, and hardly any was answered twice; its outcomes.
    ///
    /// - Parameter underWay: jobs of a worker, which may be answered again beside two in a hundred of all: of few jobs
    ///   those are fewer than one worker had handed to the log when it lost its partitions.
    func finalAnswers(
        in place: Workplace, of published: Int, disturbances: Int, underWay: Int
    ) async throws -> [OutcomeReport] {
        let outcomes = try await place.outcomes()
        let byJob = Dictionary(grouping: outcomes, by: \.job)
        #expect(byJob.count == published)
        var kinds: [OutcomeKind: Int] = [:]
        var byTurns: Set<OutcomeKind> = []
        for (job, told) in byJob {
            kinds[told[0].kind, default: 0] += 1
            let ends = Set(told.map { $0.kind.isSuccess ? .stored : $0.kind })
            #expect(ends.count == 1, "\(job) is answered \(told.map(\.kind))")
            #expect(Set(told.map { $0.variants.map(\.location) }).count == 1, "\(job)")
            switch temper(told[0].url) {
            case .well: #expect(ends.isSubset(of: [.stored]), "\(job): \(ends)")
            case .never: #expect(ends.isSubset(of: [.failed]), "\(job): \(ends)")
            case .byTurns:
                #expect(ends.isSubset(of: [.stored, .failed, .dead]), "\(job): \(ends)")
                byTurns.formUnion(ends)
            case nil: Issue.record("\(job) is about \(told[0].url)")
            }
        }
        // Else no job could have been answered both ways.
        if published >= 400 {
            #expect(byTurns.contains(.stored) && byTurns.count > 1, "\(kinds)")
        }
        let deadLetters = Set(try await place.records(.dead).map { try DeadLetter($0).id })
        let dead = Set(byJob.filter { $0.value.contains { $0.kind == .dead } }.keys)
        #expect(
            deadLetters == dead,
            "letters alone: \(deadLetters.subtracting(dead)), outcomes alone: \(dead.subtracting(deadLetters))"
        )
        let repeats = outcomes.count - published
        #expect(repeats <= published / 50 + underWay, "\(repeats) of \(published) jobs")
        let ends = kinds.map { "\($0.value) \($0.key)" }.sorted().joined(separator: ", ")
        print("final answers: \(published) jobs (\(ends)), \(repeats) repeated, \(disturbances) disturbances")
        return outcomes
    }
}
