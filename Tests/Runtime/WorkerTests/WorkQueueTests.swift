import Testing

@testable import WorkerRuntime

@Suite("What a worker is to perform", .timeLimit(.minutes(1)))
struct WorkQueueTests {
    private actor Notes {
        private(set) var numbers: [Int] = []
        func add(_ number: Int) { numbers.append(number) }
    }

    @Test("It is performed in the order in which it was asked for, while more is asked for, to the last")
    func order() async {
        let (queue, notes) = (WorkQueue(), Notes())
        for number in 0..<3 { queue.yield { await notes.add(number) } }
        async let read: Void = {
            while let piece = await queue.next() { await piece() }
        }()
        queue.yield {
            await notes.add(3)
            queue.yield { await notes.add(4) }
            queue.finish()
            // Too late.
            queue.yield { await notes.add(5) }
        }
        await read
        #expect(await notes.numbers == [0, 1, 2, 3, 4])
        #expect(await queue.next() == nil)
    }

    @Test("Who waits hears of the next piece, and of the end")
    func waiting() async {
        let queue = WorkQueue()
        await withTaskGroup(of: Int.self) { readers in
            readers.addTask {
                var count = 0
                while let piece = await queue.next() {
                    await piece()
                    count += 1
                }
                return count
            }
            for _ in 0..<1_000 {
                queue.yield {}
                await Task.yield()
            }
            queue.finish()
            #expect(await readers.next() == 1_000)
        }
    }
}
