import Ports
import Testing

@testable import KafkaLog

@Suite("Kafka: which failure is told")
struct FailureTests {
    private static let away = LogFailure.unavailable(reason: "no broker leads it")
    private static let denied = LogFailure.denied(reason: "the group may not be read")

    @Test(
        "Of two answers the refusal, which no waiting heals; else the first failure",
        arguments: [
            (nil, nil, nil), (away, nil, away), (nil, away, away), (away, denied, denied), (denied, away, denied),
            (nil, denied, denied),
        ] as [(LogFailure?, LogFailure?, LogFailure?)])
    func both(first: LogFailure?, second: LogFailure?, told: LogFailure?) {
        func answer(_ number: Int, _ failure: LogFailure?) -> Result<Int, LogFailure> {
            failure.map { .failure($0) } ?? .success(number)
        }
        var failure: LogFailure?
        switch LogFailure.both(answer(1, first), answer(2, second)) {
        case .success(let numbers): #expect(numbers == (1, 2))
        case .failure(let found): failure = found
        }
        #expect(failure == told)
    }
}
