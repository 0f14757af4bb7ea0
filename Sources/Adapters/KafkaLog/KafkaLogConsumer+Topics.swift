internal import Glibc
package import Ports
internal import Posix
internal import Synchronization

/// Checks of topics that change while workers run: problems are logged, and a worker ends if its jobs would be removed.
extension KafkaLogConsumer {
    /// Checks the topics every twenty seconds, on a thread of its own. Between two checks it holds no reference, and it
    /// ends within half a second of the consumer's stop.
    func watchTopics() {
        OwnThread.start("kafka topics") { [weak self] in
            var told: Set<String> = []
            while self?.isStopped.load(ordering: .relaxed) == false {
                self?.lookAtTopics(&told)
                for _ in 0..<Self.topicLooks where self?.isStopped.load(ordering: .relaxed) == false {
                    usleep(Self.topicPause.microseconds)
                }
            }
        }
    }

    private static let topicLooks = 40
    private static let topicPause = Duration.milliseconds(500)

    private nonisolated func lookAtTopics(_ told: inout Set<String>) {
        do throws(LogFailure) {
            let problems = try KafkaTopics.problems(log.questions, log.configuration, used: log.partitionCount)
            let ending = problems.filter { $0.effect == .endsWorker }
            if !ending.isEmpty { return hand(.failure(.topics(problems: ending.map(\.text), remedy: ""))) }
            for problem in problems where !told.contains(problem.subject) { log.notice(problem.text) }
            told = Set(problems.map(\.subject))
        } catch {
            log.detail("The topics could not be checked: \(error)")
        }
    }
}

extension KafkaLog {
    /// Checks that no job topic is compacted, for a publisher.
    /// - Failure: published jobs would be removed.
    package func checkPublishing() async throws(LogFailure) {
        try await OwnThread.result("kafka topics") { [questions] () throws(LogFailure) in
            // A user without the right to read settings may still publish.
            guard let facts = try? questions.topics(),
                let problems = try? KafkaTopics.settingProblems(questions, facts)
            else { return }
            let losing = problems.filter { $0.effect == .endsWorker }
            if !losing.isEmpty { throw .topics(problems: losing.map(\.text), remedy: "") }
        }
    }

    /// Checks the topics before the worker starts. Blocks.
    /// - Failure: a worker that started now would lose jobs.
    func checkStart() throws(LogFailure) {
        let problems: [TopicProblem]
        do throws(LogFailure) {
            problems = try KafkaTopics.problems(questions, configuration, used: partitionCount)
        } catch {
            if case .topics = error { throw error }
            // A user without the right to read settings may still run a worker.
            return notice("The topics could not be checked: \(error)")
        }
        let refusing = problems.filter { $0.effect != .notice }
        if !refusing.isEmpty { throw .topics(problems: refusing.map(\.text), remedy: "") }
    }
}
