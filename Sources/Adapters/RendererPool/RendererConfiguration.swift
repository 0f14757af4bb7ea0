internal import Clocks
package import RenderProtocol
package import VariantSpec

/// How the pool runs its children.
package struct RendererConfiguration: Sendable, Hashable {
    /// Path of mezzotint-renderer.
    package var program: String
    /// Path of mezzotint-inspector.
    package var inspector: String
    /// Inspectors at once; there is one more to spare.
    package var inspectors = 2
    /// How long an inspector may take over the header of a picture, or those of a render's outputs.
    package var inspectionLimit = Duration.seconds(5)
    /// What may see pictures in the process that saw others.
    package var isolation = RenderIsolation.picture
    /// Idle children end after so long without a render.
    package var quietTime = Duration.minutes(1)
    /// Children at once; more than there are cores only adds waiting.
    package var count: Int
    /// Seats that share the processes of one parent.
    var seats = 1
    package var deadline: Duration
    /// A fresh child warms every codec before it says that it is ready.
    package var startLimit: Duration
    package var limits: RenderLimits
    package var engine: EngineChoice
    /// What encoders may spend, where not what the table of formats says.
    package var effort: [ImageFormat: Int]
    /// Whether JPEGs are written in several scans.
    package var isProgressive = false
    /// Whether a variant is written at a lower quality where it would otherwise be larger than its source.
    package var keepsBelowSource = true
    /// Whether variants carry what their source says of whose it is.
    package var keepsRights = true
    /// The folder of the pictures that specs name by key: `logo.png` for `-wmlogo`; nil: there are none.
    package var watermarks: String?
    /// Heap that one child may have.
    package var dataBytes: Int
    /// What all children together may need, by estimate.
    package var memoryBytes: Int
    /// Whether a child goes on where the kernel has no filter for system calls; it says so on stderr.
    package var isSandboxOptional: Bool
    /// A child makes way for a fresh one after so many renders …
    package var recycleRenders: Int
    /// … or when one leaves it with more memory than this.
    package var recycleBytes: Int

    /// - Parameter inspector: by default the one beside the renderer.
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

/// Which pictures one renderer process may see, should one of them take it over.
package enum RenderIsolation: String, Sendable, CaseIterable {
    /// One alone.
    case picture
    /// Those of one origin.
    case origin
    /// All.
    case none
}

extension RendererConfiguration {
    /// Renders that one child does at most.
    var rendersPerChild: Int { isolation == .picture ? 1 : recycleRenders }

    /// All the CPU time that a child could use within its deadlines, on all cores, for one that nobody ends any more.
    private var cpuSeconds: Int { 60 + rendersPerChild * (Int(deadline.components.seconds) + 2) }

    /// Processes of one parent: at work, spare, and idle.
    private var children: Int { 2 * seats + (isolation == .origin ? ChildRoster<Int>.idleLimit(seats) : 0) }

    var arguments: [String] {
        [
            "--children", "\(children)", "--data-limit", "\(dataBytes)", "--engine", engine.rawValue, "--cpu-limit",
            "\(cpuSeconds)", "--formats",
            limits.formats.map(\.rawValue).sorted().joined(separator: ","),
        ]
    }
}
