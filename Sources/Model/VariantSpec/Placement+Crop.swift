extension Placement {
    /// Rectangle to show, in the pixels of an image that itself shows the part `shown` of the source. nil if the image
    /// does not show the whole wanted region.
    ///
    /// Fractions are kept, because the renderer resamples from them.
    package func crop(from picture: PixelSize, showing shown: Region) -> Region? {
        guard shown.covers(region) else { return nil }
        let (scaleX, scaleY) = (Double(picture.width) / shown.width, Double(picture.height) / shown.height)
        let width = min(region.width * scaleX, Double(picture.width))
        let height = min(region.height * scaleY, Double(picture.height))
        return Region(
            x: min(max(0, (region.x - shown.x) * scaleX), Double(picture.width) - width),
            y: min(max(0, (region.y - shown.y) * scaleY), Double(picture.height) - height), width: width, height: height
        )
    }
}

extension Region {
    /// Whether the other rectangle lies inside this one. It tolerates a millionth of a pixel, the rounding difference
    /// between two ways of computing one rectangle.
    package func covers(_ other: Region) -> Bool {
        let slack = 1e-6
        return other.x >= x - slack && other.y >= y - slack && other.x + other.width <= x + width + slack
            && other.y + other.height <= y + height + slack
    }
}
