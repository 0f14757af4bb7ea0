internal import CVips
package import RenderProtocol
package import VariantSpec

/// libvips itself: started once in a process, without features that a renderer does not need.
package enum VipsLibrary {
    /// - Failure: libvips's own message.
    package static func start(_ formats: Set<ImageFormat>) throws(EngineFailure) {
        // Large pictures would go into a temporary file, and opening one ends a renderer. Memory has a limit of its
        // own.
        setenv("VIPS_DISC_THRESHOLD", "1024g", 1)
        // A path without modules: those for ImageMagick, OpenSlide and Poppler bring 28 libraries and 100 mappings,
        // which a fork would copy for each render.
        setenv("VIPSHOME", "/", 1)
        guard mz_vips_start("mezzotint-renderer") == 0 else { throw .source(reason: takeError()) }
        load(module: "heif")
        if formats.contains(.jxl) || ImageFormat.jxl.isWritten { load(module: "jxl") }
        // GLib's warnings would ask for the clock's time zone, and write to stderr.
        silence()
        // Parallel jobs are processes; two threads of libvips in one process are slower.
        vips_concurrency_set(1)
        vips_cache_set_max(0)
        vips_cache_set_max_mem(0)
        // Blocking loaders that libvips calls untrusted is not enough: HEIF, AVIF, TIFF and text matrices still load
        // then.
        vips_operation_block_set("VipsForeignLoad", 1)
        for format in formats { vips_operation_block_set(loader(of: format), 0) }
    }

    /// Loads a module from libvips's folder. If it fails to load, warming the codecs fails.
    private static func load(module name: String) {
        guard let path = mz_vips_file() else { return }
        let folder = String(cString: path).split(separator: "/", omittingEmptySubsequences: false).dropLast()
        let file = folder.joined(separator: "/") + "/vips-modules-\(vips_version(0)).\(vips_version(1))/vips-\(name).so"
        if let module = g_module_open(file, G_MODULE_BIND_LAZY) { g_module_make_resident(module) }
    }

    private static func loader(of format: ImageFormat) -> String {
        switch format {
        case .jpeg: "VipsForeignLoadJpegBuffer"
        case .png: "VipsForeignLoadPngBuffer"
        case .webp: "VipsForeignLoadWebpBuffer"
        case .gif: "VipsForeignLoadNsgifBuffer"
        case .avif, .heic: "VipsForeignLoadHeifBuffer"
        case .tiff: "VipsForeignLoadTiffBuffer"
        case .jxl: "VipsForeignLoadJxlBuffer"
        case .svg: "VipsForeignLoadSvgBuffer"
        }
    }

    /// libvips's errors in one line; it clears them for the next job. The buffer belongs to the process, and warnings
    /// of a good picture stay in it.
    static func takeError() -> String {
        defer { forgetErrors() }
        var lines: [Substring] = []
        for line in String(cString: vips_error_buffer()).split(separator: "\n") {
            let text = line.split(separator: ": ", maxSplits: 1).last ?? line
            if !lines.contains(text) { lines.append(text) }
        }
        if lines.isEmpty, let warning = lastWarning { return warning }
        return lines.isEmpty ? "libvips refused it without a reason" : lines.prefix(3).joined(separator: "; ")
    }

    /// Whether there were warnings, though the operation succeeded.
    static var hasWarned: Bool { vips_error_buffer().pointee != 0 }

    static func forgetErrors() {
        vips_error_clear()
        lastWarning = nil
    }

    /// libpng's errors come only as warnings of GLib. Only the renderer's one thread uses this.
    nonisolated(unsafe) private static var lastWarning: String?

    private static func silence() {
        g_log_set_writer_func(
            { _, fields, count, _ in
                for field in UnsafeBufferPointer(start: fields, count: Int(count)) where field.length < 0 {
                    guard let key = field.key, strcmp(key, "MESSAGE") == 0, let text = field.value else { continue }
                    VipsLibrary.lastWarning = String(cString: text.assumingMemoryBound(to: CChar.self))
                }
                return G_LOG_WRITER_HANDLED
            }, nil, nil)
    }
}
