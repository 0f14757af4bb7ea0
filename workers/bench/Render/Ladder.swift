internal import VariantSpec

/// The formats for each size of a picture, by their name in the benchmark's lines.
struct Ladder {
    let name: String
    let formats: [ImageFormat]

    init(_ format: ImageFormat) { (name, formats) = (format.rawValue, [format]) }

    private init(_ name: String, _ formats: [ImageFormat]) { (self.name, self.formats) = (name, formats) }

    static let all =
        [ImageFormat.webp, .jpeg, .png, .avif].map { Ladder($0) } + [Ladder("mixed", [.jpeg, .webp, .avif])]
}
