import Records
import Testing

@Suite("Partitioning: murmur2 as Kafka's Java clients compute it", .timeLimit(.minutes(1)))
struct Murmur2Tests {
    // From org.apache.kafka.common.utils.UtilsTest.testMurmur2.
    @Test(
        "Kafka's own vectors",
        arguments: [
            ("21", -973_932_308), ("foobar", -790_332_482), ("a-little-bit-long-string", -985_981_536),
            ("a-little-bit-longer-string", -1_486_304_829),
            ("lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58_897_971), ("abc", 479_470_107),
        ] as [(String, Int32)])
    func vectors(text: String, hash: Int32) {
        #expect(Array(text.utf8).withUnsafeBufferPointer { Murmur2.hash($0) } == hash)
    }
}
