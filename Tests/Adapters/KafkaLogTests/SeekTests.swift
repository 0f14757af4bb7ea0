import Ports
import Posix
import Records
import TestSupport
import Testing

@testable import KafkaLog

extension KafkaTests {
    @Suite("Reading anew")
    struct Seek {
        /// As after an assignment, for as long as the coordinator does not answer a commit.
        @Test("A seek that librdkafka refuses is made once it can be, and nothing is handed out before")
        func refused() async throws {
            let bench = try await KafkaBench(partitions: 1)
            let log = try await bench.log()
            _ = await log.append((0..<10).map { .text(.variants, 0, "\($0)", key: "\($0)") })
            let reader = try Reader(bench)
            await reader.rewind(to: 4)
            #expect(await reader.isSeeking)
            #expect(try await reader.drain() == [])
            #expect(await reader.positions == [4, 4])
            await reader.assign(from: 0)
            var records: [Record] = []
            try await eventually {
                records += try await reader.drain()
                return records.count == 6
            }
            #expect(records.map(\.offset) == Array(4..<10))
            #expect(await reader.isSeeking == false)
            await log.close()
        }

        /// A member that has joined no group.
        private actor Reader {
            private let member: GroupMember
            private let queue: PartitionQueue
            private let name: String

            init(_ bench: KafkaBench) throws {
                member = try GroupMember(bench.configuration)
                name = bench.configuration.name(.variants)
                queue = try #require(
                    PartitionQueue(
                        member.client, KafkaPlace(.variants, PartitionID(0)), name: name, from: 0,
                        slot: GroupMember.firstSlot, wake: member.wake.writable))
            }

            var isSeeking: Bool { queue.isSeeking }
            var positions: [Int64] { [queue.position, queue.next] }
            func rewind(to offset: Int64) { queue.rewind(to: offset) }
            func drain() throws -> [Record] { try queue.drain(100) }

            func assign(from offset: Int64) {
                let list = PartitionList(capacity: 1)
                list.add(name, 0, offset: offset)
                _ = member.assign(list, patiently: PartitionList(capacity: 0))
            }
        }
    }
}
