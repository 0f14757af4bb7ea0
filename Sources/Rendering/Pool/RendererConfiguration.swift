package import ImageModel
package import VariantSpec

/// How the pool runs its children.
package struct RendererConfiguration: Sendable, Hashable {
    /// Path of mezzotint-renderer.
    package var program: String
    /// Children at once; more than there are cores only adds waiting.
    package var count: Int
    package var deadlineMilliseconds: Int
    /// A fresh child warms every codec before it says that it is ready.
    package var startMilliseconds: Int
    package var limits: RenderLimits
    package var engine: EngineChoice
    package var effort: RenderEffort
    /// Whether JPEGs are written in several scans.
    package var isProgressive = false
    /// Whether a variant is written at a lower quality where it would otherwise be larger than its source.
    package var keepsBelowSource = true
    /// The folder of the pictures that specs name by key: `logo.png` for `-wmlogo`; nil: there are none.
    package var watermarks: String?
    /// Heap that one child may have.
    package var dataBytes: Int
    /// An ordinary picture of 50 Mpx needs 320 MiB.
    package static let usualDataBytes = 512 << 20
    /// What all children together may need, by estimate.
    package var memoryBytes: Int
    /// Whether a child goes on where the kernel has no filter for system calls; it says so on stderr.
    package var isSandboxOptional: Bool
    /// A child makes way for a fresh one after so many renders …
    package var recycleRenders: Int
    /// … or when one leaves it with more memory than this, and with more than twice what it began with.
    package var recycleBytes: Int

    package init(
        program: String, count: Int, deadlineMilliseconds: Int = 10_000, startMilliseconds: Int = 10_000,
        limits: RenderLimits = RenderLimits(), engine: EngineChoice = .direct, effort: RenderEffort = RenderEffort(),
        dataBytes: Int = RendererConfiguration.usualDataBytes, memoryBytes: Int = 1 << 30, isSandboxOptional: Bool = false,
        recycleRenders: Int = 500, recycleBytes: Int = 192 << 20
    ) {
        (self.program, self.count, self.limits, self.effort) = (program, max(1, count), limits, effort)
        (self.deadlineMilliseconds, self.startMilliseconds) = (deadlineMilliseconds, startMilliseconds)
        (self.dataBytes, self.recycleRenders, self.recycleBytes) = (dataBytes, recycleRenders, recycleBytes)
        (self.engine, self.memoryBytes, self.isSandboxOptional) = (engine, memoryBytes, isSandboxOptional)
    }
}

extension RendererConfiguration {
    /// All the CPU time that a child could use within its deadlines, for one that nobody ends any more.
    var cpuSeconds: Int { recycleRenders * (deadlineMilliseconds / 1000 + 2) }
}

/// Who decodes, resizes and encodes in a child.
package enum EngineChoice: String, Sendable, CaseIterable {
    /// The codecs themselves where they can, with what this machine's processor has; libvips for the rest.
    case direct
    /// The same with nothing that not every processor has.
    case portable
    /// libvips for all.
    case libvips
}

/// What encoders may spend on each lane.
package struct RenderEffort: Sendable, Hashable {
    /// WebP's method, 0...6. 2 takes 40 % less CPU than 4 for 3 % more bytes at the same score; 3 costs like 4.
    package var webpFast: Int
    package var webpSlow: Int
    /// AVIF's effort, 0...9. At 640 px 1 takes 64 ms, 2 takes 125 for 1.5 % fewer bytes, 4 takes 694 for 1 % more.
    package var avifFast: Int
    package var avifSlow: Int
    /// PNG's compression level, 0...9, where libvips writes it; the direct path has its own.
    package var png: Int
    /// How hard a GIF's colours are chosen, 1...10.
    package var gif: Int
    package init(
        webpFast: Int = 2, webpSlow: Int = 4, avifFast: Int = 1, avifSlow: Int = 2, png: Int = 6, gif: Int = 7
    ) {
        (self.webpFast, self.webpSlow, self.avifFast, self.avifSlow) = (webpFast, webpSlow, avifFast, avifSlow)
        (self.png, self.gif) = (png, gif)
    }

    package func effort(for format: ImageFormat, on lane: Lane) -> Int {
        switch format {
        case .webp: lane == .fast ? webpFast : webpSlow
        case .avif: lane == .fast ? avifFast : avifSlow
        case .png: png
        case .gif: gif
        default: 0
        }
    }
}
