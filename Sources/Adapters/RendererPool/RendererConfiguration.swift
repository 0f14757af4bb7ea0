internal import Clocks
package import RenderProtocol
package import VariantSpec

/// Configuration of a renderer pool and its processes.
package struct RendererConfiguration: Sendable, Hashable {
    /// Path of mezzotint-renderer.
    package var program: String
    /// Path of mezzotint-inspector.
    package var inspector: String
    /// Inspectors at once; one more is kept as a spare.
    package var inspectors = 2
    /// Time limit of an inspector for the header of a picture, or the headers of a render's outputs.
    package var inspectionLimit = Duration.seconds(5)
    /// Which pictures one renderer process may read.
    package var isolation = RenderIsolation.image
    /// Idle processes end after this time without a render.
    package var quietTime = Duration.minutes(1)
    /// Renders at once; more than there are cores only adds waiting.
    package var count: Int
    /// Seats that share the processes of one parent.
    var slots = 1
    package var deadline: Duration
    /// Time limit for a fresh process to warm every codec and report that it is ready.
    package var startLimit: Duration
    package var limits: RenderLimits
    package var engine: EngineChoice
    /// Encoder effort by format, if it differs from the table of formats.
    package var effort: [ImageFormat: Int]
    /// Whether JPEGs are written in several scans.
    package var isProgressive = false
    /// Whether a variant is encoded at a lower quality if it would otherwise be larger than its source.
    package var keepsBelowSource = true
    /// Whether variants keep their source's copyright metadata.
    package var keepsRights = true
    /// Folder of the watermarks that specs name by key: `logo.png` for `-wmlogo`; nil: there are none.
    package var watermarks: String?
    /// Heap limit of one process.
    package var dataBytes: Int
    /// Estimated memory that all processes together may use.
    package var memoryBytes: Int
    /// Whether a process continues if the kernel has no filter for system calls; it logs that on stderr.
    package var isSandboxOptional: Bool
    /// Number of renders after which a fresh process replaces a used one.
    package var recycleRenders: Int
    /// Memory after a render above which a fresh process replaces a used one.
    package var recycleBytes: Int

    /// - Parameter inspector: path of the inspector; by default next to the renderer.
    package init(
        program: String, inspector: String? = nil, count: Int, deadline: Duration = .seconds(10),
        startLimit: Duration = .seconds(10),
        limits: RenderLimits = RenderLimits(), engine: EngineChoice = .direct, effort: [ImageFormat: Int] = [:],
        dataBytes: Int = RenderLimits.usualDataBytes, memoryBytes: Int = 1 << 30, isSandboxOptional: Bool = false,
        recycleRenders: Int = 500, recycleBytes: Int = 192 << 20
    ) {
        (self.program, self.count, self.limits, self.effort) = (program, max(1, count), limits, effort)
        (self.deadline, self.startLimit) = (deadline, startLimit)
        (self.dataBytes, self.recycleRenders, self.recycleBytes) = (dataBytes, recycleRenders, recycleBytes)
        self.inspector =
            inspector ?? program.split(separator: "/", omittingEmptySubsequences: false).dropLast()
            .joined(separator: "/") + "/mezzotint-inspector"
        (self.engine, self.memoryBytes, self.isSandboxOptional) = (engine, memoryBytes, isSandboxOptional)
    }
}

/// Which pictures one renderer process may read, in case one of them takes it over.
package enum RenderIsolation: String, Sendable, CaseIterable {
    /// One picture.
    case image
    /// Pictures of one origin.
    case origin
    /// All pictures.
    case none
}

extension RendererConfiguration {
    /// Maximum number of renders of one process.
    var rendersPerChild: Int { isolation == .image ? 1 : recycleRenders }

    /// CPU limit of a process, for one that nothing else ends: all CPU time that it could use within its deadlines, on
    /// all cores.
    private var cpuSeconds: Int { 60 + rendersPerChild * (Int(deadline.components.seconds) + 2) }

    /// Processes of one parent: rendering, spare, and idle.
    private var children: Int { 2 * slots + (isolation == .origin ? ChildRoster<Int>.idleLimit(slots) : 0) }

    var arguments: [String] {
        [
            "--children", "\(children)", "--data-limit", "\(dataBytes)", "--engine", engine.rawValue, "--cpu-limit",
            "\(cpuSeconds)", "--formats",
            limits.formats.map(\.rawValue).sorted().joined(separator: ","),
        ]
    }
}
