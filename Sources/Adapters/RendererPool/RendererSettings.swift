internal import Clocks
package import SettingTypes
package import VariantSpec

/// Settings of the renderer processes, and their limits.
package struct RendererSettings: Sendable, Equatable {
    /// Path of the renderer; empty: `mezzotint-renderer` in the running program's directory.
    package var program = ""
    /// Number of renderer processes; 0: as many as the worker can keep busy.
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
    package var capAtSourceSize = true
    package var metadata = "copyright"
    /// Folder of watermarks; empty: there are none.
    package var watermarks = ""

    /// Limits of animated variants.
    package struct Animation: Sendable, Equatable {
        package var pixelLimit = 50_000_000
        package var duration = Duration.seconds(120)

        package init() {}
    }

    package init() {}

    package static let rows: [SettingRow<RendererSettings>] = [
        SettingRow(
            "render.program", \.program, .path(allowsEmpty: true),
            "Renderer program to start. Empty: mezzotint-renderer in the worker's directory."),
        SettingRow(
            "render.processes", \.processes, .whole(0...1024),
            "Number of renderer processes. 0: one for each core of the worker's CPU affinity, or of its control groups' CPU limit (cpu.max, rounded up) if that is lower; at least one."
        ),
        SettingRow(
            "render.engine", \.engine, .choice(["direct", "portable", "libvips"]),
            "Render engine. direct: the codecs directly where possible, libvips for the rest; portable: the same without AVX2; libvips: libvips only."
        ),
        SettingRow(
            "render.sandbox", \.sandbox, .choice(["required", "optional"]),
            "Whether renderers start if the kernel has no filter for system calls. optional: they start without it. `mezzotint doctor` reports whether the kernel has the filter."
        ),
        SettingRow(
            "render.isolation", \.isolation, .choice(["image", "origin", "none"]),
            "Images that one renderer process may read, which limits the damage if an image takes the process over. image: one image; origin: images of one origin, and idle processes are kept for recent origins; none: 500 images of any origin."
        ),
        SettingRow(
            "render.memory", \.memory, .size(64 << 20...1 << 40),
            "Estimated memory that all renders together may use, beyond 50 MiB a process. A render that would exceed it waits. Idle processes count too, and end first. One renderer may use half of it, and at least 512 MiB. If a source's headers show that decoding needs more, it is refused (render.too-much-memory) before its remaining bytes are fetched. The default accepts AVIF and HEIC of 49 megapixels with 8 bits (with alpha: 40) and 23 with 10 bits (AVIF with full chroma: 30 and 16). It accepts GIF of 100 megapixels, or 36 if the first frame is smaller than the canvas."
        ),
        SettingRow(
            "render.deadline", \.deadline, .duration(.milliseconds(10) ... .seconds(600)),
            "Time limit for one render of up to 40 megapixels, including all frames and each encode of a quality search. Larger images have up to 2.5 times as long. After that, the renderer process is killed."
        ),
        SettingRow(
            "render.formats", \.formats,
            .list(of: "formats among jpeg, png, webp, gif, avif, heic, tiff, jxl and svg", { ImageFormat(suffix: $0) }),
            "Source formats to accept, detected by content. Name tiff, jxl or svg to accept them: their decoders are the least tested, and renderers have no fonts for text in SVG."
        ),
        SettingRow(
            "render.pixelLimit", \.pixelLimit, .whole(1...1_000_000_000),
            "Maximum pixels of a source or a variant. render.memory limits the memory for decoding."),
        SettingRow(
            "render.frameLimit", \.frameLimit, .whole(1...100_000),
            "Maximum frames of an animated source for animated variants. Longer sources are rendered as still images only."
        ),
        SettingRow(
            "render.scanLimit", \.scanLimit, .whole(1...10_000),
            "Maximum scans of a progressive JPEG."),
        SettingRow(
            "render.chunkLimit", \.chunkLimit, .whole(1...1_000_000), "Maximum chunks of a PNG."),
        SettingRow(
            "render.animation.pixelLimit", \.animation.pixelLimit, .whole(1...1_000_000_000),
            "Maximum pixels of a source, over all frames, for animated variants."),
        SettingRow(
            "render.animation.duration", \.animation.duration, .duration(.milliseconds(1) ... .seconds(3600)),
            "Maximum duration of a source for animated variants."),
        SettingRow(
            "render.progressive", \.progressive, .flag,
            "Whether JPEGs are encoded in several scans, coarse ones first. Encoding then takes twice as long, for 3 % fewer bytes."
        ),
        SettingRow(
            "render.capAtSourceSize", \.capAtSourceSize, .flag,
            "Whether a variant with more bytes than its source is encoded at a lower quality: at most 5 steps lower, never from 90 and above to below 90, and never below 40. If that does not help, the requested quality stays. Variants of more than 8 million pixels (AVIF: 1.5 million) keep the requested quality."
        ),
        SettingRow(
            "render.metadata", \.metadata, .choice(["copyright", "none"]),
            "Source metadata that variants keep. copyright: by-line, credit, copyright notice and IPTC digital source type (which marks machine-made images), in one XMP packet of at most 2 KiB, if the source has any of them. none: nothing. Locations, cameras, dates, thumbnails and other names are never kept. Metadata of SVG sources is not read. A change applies to variants rendered afterwards."
        ),
        SettingRow(
            "render.watermarks", \.watermarks, .path(allowsEmpty: true),
            "Directory of watermarks: its logo.png is drawn over variants that request -wmlogo. Empty: no watermarks. Do not change the file of a name: variants rendered with the old file stay."
        ),
    ]
}
