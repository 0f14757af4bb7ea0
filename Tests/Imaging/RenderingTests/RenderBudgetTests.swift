internal import Dispatch
internal import Images
internal import Posix
internal import Synchronization
internal import Testing
internal import VariantSpec

@testable internal import RenderProtocol
@testable internal import RendererPool

@Suite("The pool's memory: what all renders may need together", .timeLimit(.minutes(1)))
struct RenderBudgetTests {
    /// Many threads take and give back; what is held is looked at while it is held.
    @Test("Never more is held than the ceiling, except by one alone", arguments: [100, 40, 9])
    func ceiling(ceiling: Int) {
        let budget = RenderBudget(ceiling: ceiling) { _ in }
        let held = Mutex((bytes: 0, count: 0, most: 0))
        let done = DispatchSemaphore(value: 0)
        for thread in 0..<8 {
            OwnThread.start("budget \(thread)") {
                for turn in 0..<500 {
                    let bytes = 1 + (turn * 7 + thread * 3) % 30
                    budget.take(bytes)
                    held.withLock { held in
                        held = (held.bytes + bytes, held.count + 1, held.most)
                        if held.count > 1 { held.most = max(held.most, held.bytes) }
                    }
                    held.withLock { $0 = ($0.bytes - bytes, $0.count - 1, $0.most) }
                    budget.giveBack(bytes)
                }
                done.signal()
            }
        }
        for _ in 0..<8 { done.wait() }
        #expect(held.withLock { $0.bytes } == 0)
        #expect(held.withLock { $0.most } <= ceiling)
    }

    @Test("Idle children may hold what jobs leave, and the next job takes it from them")
    func idle() {
        let room = Mutex<[Int]>([])
        let budget = RenderBudget(ceiling: 100) { bytes in room.withLock { $0.append(bytes) } }
        budget.take(30)
        budget.take(60)
        budget.giveBack(30)
        budget.giveBack(60)
        // One that is over the ceiling runs alone, without an idle child.
        budget.take(500)
        budget.giveBack(500)
        #expect(room.withLock { $0 } == [70, 10, 40, 100, 0, 100])
    }

    @Test("All frames count where they come out moving, of the largest such output, and two where none does")
    func frames() {
        let facts = PictureFacts(
            format: .gif, size: PixelSize(width: 100, height: 10), orientation: 1, frames: 30, hasAlpha: false)
        func estimate(_ sides: [(side: Int, isAnimated: Bool)]) -> Int {
            var request = RenderRequest(
                facts: facts, isReuse: false, deadlineMilliseconds: 1000,
                outputs: sides.map { side, _ in
                    RenderOutput(
                        format: .webp, quality: 80, effort: 2, size: PixelSize(width: side, height: side),
                        crop: Region(whole: facts.size))
                })
            for (index, side) in sides.enumerated() { request.outputs[index].isAnimated = side.isAnimated }
            return request.memoryEstimate
        }
        // Rows on their way, then frames, pixels that several outputs are made from, and outputs.
        #expect(estimate([(10, false)]) == 8_000 + 2 * 5_000 + 8 * 100)
        #expect(estimate([(10, false), (20, false)]) == 8_000 + 2 * 5_000 + 4_000 + 8 * 500)
        #expect(estimate([(10, true)]) == 8_000 + 30 * 5_000 + 30 * 800)
        #expect(estimate([(10, true), (20, true), (5, false)]) == 8_000 + 30 * 5_000 + 4_000 + 30 * 3_200 + 200)
    }

    @Test(
        "The estimate is over what was measured of encoders",
        arguments: [(ImageFormat.avif, 10_100_000, 364 << 20), (.avif, 15_900_000, 485 << 20)])
    func encoders(format: ImageFormat, pixels: Int, measured: Int) {
        let size = PixelSize(width: pixels / 1_000, height: 1_000)
        let request = RenderRequest(
            facts: PictureFacts(format: .jpeg, size: size, orientation: 1, frames: 1, hasAlpha: false), isReuse: false,
            deadlineMilliseconds: 1000,
            outputs: [RenderOutput(format: format, quality: 80, effort: 1, size: size, crop: Region(whole: size))])
        #expect(request.memoryEstimate > measured)
    }
}
