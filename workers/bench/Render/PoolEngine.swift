internal import Clocks
internal import Foundation
internal import ImageModel
internal import Images
internal import Ports
internal import Posix
internal import RendererPool
internal import VariantSpec

/// Our renderer pool, on files.
struct PoolEngine: BenchmarkEngine {
    let pictures: [URL]
    let jobs: Int
    var isolation = RenderIsolation.origin
    /// Number of hosts that the pictures come from, in turn: the scheduler takes hosts in turn, too.
    var hosts = 1
    /// Renders of each image in one run.
    var repeats = 1
    let out: URL

    static let program = SystemFacts.programFolder + "/mezzotint-renderer"

    func run(_ ladder: Ladder) async throws -> RenderFigures {
        try await withPool { pool in
            let start = SystemTime.monotonic
            let cpu = cpuTime(pool)
            let lengths = try await each(Array(repeatElement(pictures, count: repeats).joined())) { url, host in
                try await variants(of: url, from: host, ladder.formats, pool).map(\.content.length)
            }
            return RenderFigures(
                engine: "mezzotint \(isolation.rawValue)/\(hosts)", ladder: ladder, variants: lengths.count,
                time: SystemTime.monotonic - start, cpu: cpuTime(pool) - cpu, bytes: lengths.reduce(0, +),
                peakMemoryBytes: pool.peakMemoryBytes)
        }
    }

    func keep(_ ladder: Ladder, of pictures: [URL]) async throws {
        try await withPool { pool in
            _ = try await each(pictures) { url, host in
                let variants = try await variants(of: url, from: host, ladder.formats, pool)
                for (i, format) in ladder.formats.enumerated() {
                    try Data(variants[i * variants.count / ladder.formats.count].content.bytes())
                        .write(to: out.appending(path: "\(url.lastPathComponent).\(format.suffix)"))
                }
                return []
            }
        }
    }

    /// Proportional set sizes of renderers, parents and inspectors together, sampled every 10 ms.
    func memory(_ ladder: Ladder) async throws -> Int? {
        try await withPool { pool in
            let sampler = Task {
                var most = 0
                while !Task.isCancelled {
                    let processes = pool.processes + pool.parents + pool.inspectorProcesses
                    most = max(most, processes.reduce(0) { $0 + (Self.proportionalBytes($1.pid) ?? 0) })
                    try? await Task.sleep(for: .milliseconds(10))
                }
                return most
            }
            _ = try await each(pictures) { url, host in
                _ = try await variants(of: url, from: host, ladder.formats, pool)
                return []
            }
            sampler.cancel()
            return await sampler.value
        }
    }

    private static func proportionalBytes(_ pid: Int32) -> Int? {
        guard let text = try? String(contentsOfFile: "/proc/\(pid)/smaps_rollup", encoding: .utf8) else { return nil }
        let words = text.split(separator: "\n").first { $0.hasPrefix("Pss:") }?.split(separator: " ")
        return words.flatMap { Int($0[1]) }.map { $0 << 10 }
    }

    private func withPool<R>(_ body: (RendererPool) async throws -> R) async throws -> R {
        var configuration = RendererConfiguration(program: Self.program, count: jobs)
        configuration.isolation = isolation
        let pool = RendererPool(configuration)
        // A slot for each job is warm once this many jobs wait at once.
        while pool.processes.count < jobs { try await pool.ready() }
        let result = try await body(pool)
        await pool.stop()
        return result
    }

    private func cpuTime(_ pool: RendererPool) -> Duration {
        (pool.processes + pool.parents + pool.inspectorProcesses).reduce(ProcessMemory.ownCPUTime) {
            $0 + ($1.cpuTime ?? .zero)
        }
    }

    private func variants(
        of url: URL, from host: Int, _ formats: [ImageFormat], _ pool: RendererPool
    ) async throws -> [RenderedVariant] {
        let picture = try await pool.inspect(try OpenFile(reading: url.path))
        let specs = formats.flatMap { format in
            [
                VariantSpec(width: 1280, height: 1280, format: format),
                VariantSpec(width: 640, height: 640, format: format),
                VariantSpec(width: 160, height: 160, mode: .crop, format: format),
            ]
        }
        let orders = specs.map { spec in
            let placement = spec.placement(of: picture.facts.size)
            return RenderOrder(spec: spec, output: placement.output, crop: placement.region)
        }
        return try await pool.render(picture, orders, isReuse: false, origin: "http://\(host).example")
    }

    /// Calls `body` with every picture and its host, `jobs` at a time.
    private func each(
        _ pictures: [URL], _ body: @escaping @Sendable (URL, Int) async throws -> [Int]
    ) async throws -> [Int] {
        try await withThrowingTaskGroup(of: [Int].self) { group in
            var results: [Int] = []
            for (i, url) in pictures.enumerated() {
                if i >= jobs { results += try await group.next() ?? [] }
                group.addTask { try await body(url, i % hosts) }
            }
            for try await more in group { results += more }
            return results
        }
    }
}
