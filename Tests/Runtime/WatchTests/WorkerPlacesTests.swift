import Posix
import Testing

@testable import Watch

@Suite("Where workers are asked", .timeLimit(.minutes(1)))
struct WorkerPlacesTests {
    /// What a resolver says of the one name, look by look; nil: it is away.
    @Test(
        "A name with several addresses is asked at each, as the resolver says them",
        arguments: [
            (said: [], asked: ["pods:9464"]), (said: [["10.0.0.2"]], asked: ["pods:9464"]),
            (said: [[]], asked: ["pods:9464"]),
            (said: [["10.0.0.2", "10.0.0.1", "10.0.0.2"]], asked: ["10.0.0.1:9464", "10.0.0.2:9464"]),
            (said: [["10.0.0.1", "10.0.0.2"], ["10.0.0.2"]], asked: ["10.0.0.2:9464"]),
            (said: [["10.0.0.1", "10.0.0.2"], nil], asked: ["10.0.0.1:9464", "10.0.0.2:9464"]),
            (said: [["10.0.0.1", "10.0.0.2"], []], asked: ["pods:9464"]),
            (said: [["fd00::1", "fd00::2", "10.0.0.1", "10.0.0.2"]], asked: ["[fd00::1]:9464", "[fd00::2]:9464"]),
            (said: [["10.0.0.1", "fd00::1"]], asked: ["pods:9464"]),
        ] as [(said: [[String]?], asked: [String])])
    func names(said: [[String]?], asked: [String]) {
        var places = WorkerPlaces([.init("pods:9464", name: "pods", port: 9464)])
        #expect(places.names == ["pods"])
        for addresses in said { places.learn(addresses?.compactMap { IPAddress($0) }, of: "pods") }
        #expect(places.places == asked)
    }

    @Test("Each place is asked once, addresses are not looked up, and of more than are shown the rest is left out")
    func bounds() {
        var places = WorkerPlaces([
            .init("10.0.0.1:1", name: nil, port: 1), .init("a:1", name: "a", port: 1), .init("b:1", name: "b", port: 1),
        ])
        #expect(places.names == ["a", "b"])
        for name in ["a", "b"] { places.learn([.v4(0x0A00_0001), .v4(0x0A00_0002)], of: name) }
        #expect(places.places == ["10.0.0.1:1", "10.0.0.2:1"])
        places.learn((0..<2_000).map { .v4($0) }, of: "b")
        #expect(places.places.count == WatchState.workerLimit)
    }
}
