internal import CPixels
internal import VariantSpec

extension Canvas {
    /// Rows of 8-bit RGB after PNG's filter 4 (Paeth), each preceded by its filter's number.
    package var filteredForPNG: [UInt8] {
        let blank = [UInt8](repeating: 0, count: stride)
        return [UInt8](unsafeUninitializedCapacity: (stride + 1) * size.height) { out, filled in
            blank.withUnsafeBufferPointer { blank in
                for y in 0..<size.height {
                    let above = y == 0 ? blank.baseAddress : UnsafePointer(bytes + (y - 1) * stride)
                    out[y * (stride + 1)] = 4
                    mz_png_paeth(bytes + y * stride, above, out.baseAddress! + y * (stride + 1) + 1, stride)
                }
            }
            filled = (stride + 1) * size.height
        }
    }
}
