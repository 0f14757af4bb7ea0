internal import CVips
internal import Rendering

/// libvips itself: started once for a process, with nothing switched on that a renderer does not need.
enum VipsLibrary {
    /// - Failure: libvips's own sentence.
    static func start() throws(EngineFailure) {
        guard mz_vips_start("mezzotint-renderer") == 0 else { throw .source(reason: takeError()) }
        // GLib's warnings would ask for the clock's time zone, and say on stderr what nobody asked.
        mz_vips_silence()
        // Parallel jobs are processes; two threads of libvips in one are slower than that.
        vips_concurrency_set(1)
        vips_cache_set_max(0)
        vips_cache_set_max_mem(0)
        // Blocking what libvips calls untrusted is not enough: HEIF, AVIF, TIFF and text matrices still load then.
        vips_operation_block_set("VipsForeignLoad", 1)
        for loader in ["VipsForeignLoadJpegBuffer", "VipsForeignLoadPngBuffer", "VipsForeignLoadWebpBuffer"] {
            vips_operation_block_set(loader, 0)
        }
    }

    /// The first line of what libvips complains of, and none left for the next job: the buffer is the process's.
    static func takeError() -> String {
        let text = String(cString: vips_error_buffer())
        vips_error_clear()
        let line = text.split(separator: "\n").first.map(String.init) ?? "libvips gave no reason"
        return String(line.prefix(200))
    }
}
