import Testing

@testable import Ledger

struct InvariantTests {
    @Test("A module that contradicts itself ends its process, as nothing that follows may become durable")
    func broken() async {
        await #expect(processExitsWith: .failure) {
            Invariants.check()
            invariant(1 + 1 == 3, "one and one are three")
        }
        invariant(true, "what holds is nothing to speak of")
    }
}
