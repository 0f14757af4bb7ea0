internal import Clocks
package import SettingTypes
package import VariantSpec

/// The child processes that decode and encode, and what they accept.
package struct RendererSettings: Sendable, Equatable {
    /// Empty: `mezzotint-renderer` beside the running program.
    package var program = ""
    /// 0: as many as the worker may keep busy.
    package var processes = 0
    package var engine = "direct"
    package var sandbox = "required"
    package var isolation = "origin"
    package var memory = 1 << 30
    package var deadline = Duration.seconds(10)
    package var pixelLimit = 268_435_456
    package var formats: [ImageFormat] = [.jpeg, .png, .webp, .gif, .avif, .heic]
    package var scanLimit = 64
    package var frameLimit = 1000
    package var chunkLimit = 65_536
    package var animation = Animation()
    package var progressive = false
    package var belowSource = true
    package var metadata = "copyright"
    /// Empty: there are none.
    package var watermarks = ""

    /// What may come out moving.
    package struct Animation: Sendable, Equatable {
        package var pixelLimit = 50_000_000
        package var duration = Duration.seconds(120)

        package init() {}
    }

    package init() {}

    package static let rows: [SettingRow<RendererSettings>] = [
        SettingRow(
            "render.program", \.program, .path(allowsEmpty: true),
            "The renderer to start. Empty: mezzotint-renderer beside the worker."),
        SettingRow(
            "render.processes", \.processes, .whole(0...1024),
            "Renderer processes. 0: one for each core of the worker's CPU affinity, or of the CPU limit of its control groups (cpu.max) rounded up, whichever is fewer; at least one."
        ),
        SettingRow(
            "render.engine", \.engine, .choice(["direct", "portable", "libvips"]),
            "Who renders. direct: the codecs themselves where they can, libvips the rest; portable: the same without AVX2; libvips: libvips alone."
        ),
        SettingRow(
            "render.sandbox", \.sandbox, .choice(["required", "optional"]),
            "Whether renderers start where the kernel has no filter for system calls. `mezzotint doctor` says whether it has."
        ),
        SettingRow(
            "render.isolation", \.isolation, .choice(["picture", "origin", "none"]),
            "Which images one renderer process may see, in case one of them takes it over. picture: one image; origin: those of one origin, and idle processes are kept for recent origins; none: 500 images of all origins."
        ),
        SettingRow(
            "render.memory", \.memory, .size(64 << 20...1 << 40),
            "Memory that all renders at once may need beyond their processes' 50 MiB, by estimate. A render that would exceed it waits. Idle processes count too, and end first. One renderer may have half of it, and at least 512 MiB. Sources that need more to be decoded, by estimate from their headers, are refused (render.too-much-memory) before the rest of them is fetched. The default takes AVIF and HEIC of 49 megapixels with 8 bits and 23 with 10 bits (an AVIF with full chroma of 33 and 16), and GIF of 100, or 36 if its first frame is smaller than the canvas."
        ),
        SettingRow(
            "render.deadline", \.deadline, .duration(.milliseconds(10) ... .seconds(600)),
            "How long one render of up to 40 megapixels, all frames and each encode of a quality search counted, may take before its process is ended; larger ones have up to 2.5 times as long."
        ),
        SettingRow(
            "render.formats", \.formats,
            .list(of: "formats among jpeg, png, webp, gif, avif, heic, tiff, jxl and svg", { ImageFormat(suffix: $0) }),
            "The formats that sources may have, known by content. Name tiff, jxl or svg to accept them: their decoders are the least tried, and renderers have no fonts for an SVG's text."
        ),
        SettingRow(
            "render.pixelLimit", \.pixelLimit, .whole(1...1_000_000_000),
            "The most pixels that a source, or a variant, may have. What decoding needs is limited by render.memory."),
        SettingRow(
            "render.frameLimit", \.frameLimit, .whole(1...100_000),
            "The most frames of an animated source whose variants move; stills of longer ones are rendered."),
        SettingRow(
            "render.scanLimit", \.scanLimit, .whole(1...10_000),
            "The most scans that a progressive JPEG may have."),
        SettingRow(
            "render.chunkLimit", \.chunkLimit, .whole(1...1_000_000), "The most chunks that a PNG may have."),
        SettingRow(
            "render.animation.pixelLimit", \.animation.pixelLimit, .whole(1...1_000_000_000),
            "The most pixels, of all frames together, that a source may have to come out moving."),
        SettingRow(
            "render.animation.duration", \.animation.duration, .duration(.milliseconds(1) ... .seconds(3600)),
            "The longest that a source may last to come out moving."),
        SettingRow(
            "render.progressive", \.progressive, .flag,
            "Whether JPEGs are written in several scans, coarse ones first. Encoding then takes twice as long, for 3 % fewer bytes."
        ),
        SettingRow(
            "render.belowSource", \.belowSource, .flag,
            "Whether a variant with more bytes than its source is encoded at a lower quality: at most 5 steps lower, never from 90 and above to below 90, and never below 40. If that does not help, the requested quality stays. Variants of more than 8 million pixels (AVIF 1.5) keep the requested quality."
        ),
        SettingRow(
            "render.metadata", \.metadata, .choice(["copyright", "none"]),
            "What variants keep of their source's metadata. copyright: by-line, credit, copyright notice and IPTC's digital source type (which says that a machine made it), in one XMP packet of at most 2 KiB; nothing where the source says nothing. none: nothing. Places, cameras, dates, thumbnails and other names are never kept. Metadata of JPEG XL and SVG sources is not read. A change holds for variants that are made afterwards."
        ),
        SettingRow(
            "render.watermarks", \.watermarks, .path(allowsEmpty: true),
            "The folder of watermarks: logo.png there is laid over variants that ask for -wmlogo. Empty: there are none. What lies under a key must not change: variants made with it stay."
        ),
    ]
}
