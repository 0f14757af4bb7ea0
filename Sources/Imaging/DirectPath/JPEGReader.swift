internal import CJPEG
internal import RenderKit
internal import VariantSpec

/// A JPEG that libjpeg has opened: it provides first its traits, then its rows.
///
/// - Ownership: one decompressor, freed by `deinit`; the bytes must outlive it.
struct JPEGReader: ~Copyable {
    private let reader: UnsafeMutablePointer<mz_jpeg_reader>

    private init(taking reader: UnsafeMutablePointer<mz_jpeg_reader>) { self.reader = reader }

    static func open(_ bytes: UnsafeRawBufferPointer) throws(CodecFailure) -> JPEGReader {
        guard let reader = mz_jpeg_reader_new() else { throw CodecFailure(reason: "not enough memory to open it") }
        let opened = JPEGReader(taking: reader)
        guard mz_jpeg_open(reader, bytes.baseAddress, bytes.count) == 0 else { throw opened.failure }
        return opened
    }

    deinit { mz_jpeg_reader_free(reader) }

    private var failure: CodecFailure { CodecFailure(reason: String(cString: mz_jpeg_reason(reader))) }

    var traits: JPEGTraits {
        JPEGTraits(
            stored: PixelSize(width: Int(reader.pointee.info.image_width), height: Int(reader.pointee.info.image_height)),
            isColour: mz_jpeg_is_three(reader) != 0, profile: profile.map { ProfileKind($0, for: .rgb) } ?? .none)
    }

    /// The embedded colour profile's bytes, valid as long as this reader.
    var profile: UnsafeRawBufferPointer? {
        reader.pointee.profile.map { UnsafeRawBufferPointer(start: $0, count: Int(reader.pointee.profile_bytes)) }
    }

    /// Begins to decode at 1/`shrink` of the stored size; returns the size of the decoded picture.
    ///
    /// - Parameter isConverted: whether to convert to RGB, which is impossible for some colour spaces.
    func start(shrink: Int, isConverted: Bool = true) throws(CodecFailure) -> PixelSize {
        guard mz_jpeg_start(reader, Int32(shrink), isConverted ? 1 : 0) == 0 else { throw failure }
        return PixelSize(width: Int(reader.pointee.info.output_width), height: Int(reader.pointee.info.output_height))
    }

    /// Whether the decoded picture has fewer columns of chroma than pixels, after `start`; for three components.
    var hasHalfChroma: Bool { reader.pointee.info.comp_info[1].downsampled_width < reader.pointee.info.output_width }

    /// Decodes rows into the memory that `rows` points to; returns their number.
    func read(_ rows: UnsafeMutableBufferPointer<UnsafeMutablePointer<UInt8>?>) throws(CodecFailure) -> Int {
        let count = mz_jpeg_read(reader, rows.baseAddress, Int32(rows.count))
        guard count > 0 else { throw count < 0 ? failure : CodecFailure(reason: "its rows end early") }
        return Int(count)
    }

    /// Decodes all rows only to detect failures.
    func skim() throws(CodecFailure) {
        let size = try start(shrink: 8, isConverted: false)
        let row = UnsafeMutablePointer<UInt8>.allocate(capacity: size.width * Int(reader.pointee.info.output_components))
        defer { row.deallocate() }
        let rows = UnsafeMutableBufferPointer<UnsafeMutablePointer<UInt8>?>.allocate(capacity: 1)
        defer { rows.deallocate() }
        rows.initialize(repeating: row)
        for _ in 0..<size.height { _ = try read(rows) }
    }
}

/// A codec's error message.
struct CodecFailure: Error {
    let reason: String
}
