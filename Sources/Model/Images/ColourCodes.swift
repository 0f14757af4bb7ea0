/// Colours that a file declares without a profile: by code points of ITU-T H.273, or by the numbers of a PNG.
package struct ColourCodes: Sendable, Hashable {
    package let primaries: Int
    package let transfer: Int
    /// Exponent of a PNG's encoder in hundred-thousandths, in place of `transfer`; 0: none.
    package let gamma: Int
    /// Chromaticities of a PNG in hundred-thousandths, in place of `primaries`: x and y of white, red, green and blue.
    /// Empty: none.
    package let chromaticities: [Int]

    /// nil for sRGB or unspecified colours: pixels count as sRGB.
    package init?(primaries: Int, transfer: Int) {
        let isUsual =
            ![1, 4, 5, 6, 8, 14, 15, 16, 17, 18].contains(transfer) && ![5, 6, 7, 9, 11, 12].contains(primaries)
        guard !isUsual, (0...255).contains(primaries), (0...255).contains(transfer) else { return nil }
        (self.primaries, self.transfer, gamma, chromaticities) = (primaries, transfer, 0, [])
    }

    /// nil if the values are nearly sRGB (within 5 % of its exponent, as in libpng and Chromium) or invalid.
    package init?(gamma: Int, chromaticities: [Int]) {
        let points = Self.areSound(chromaticities) && !Self.areUsual(chromaticities) ? chromaticities : []
        let isUsual = (43_182...47_727).contains(gamma)
        guard (5_000...1_000_000).contains(gamma), !isUsual || !points.isEmpty else { return nil }
        (primaries, transfer, self.gamma, self.chromaticities) = (2, 2, gamma, points)
    }

    /// Whether the transfer is perceptual quantisation or hybrid log-gamma, which go beyond the white of a screen.
    package var isHDR: Bool { transfer == 16 || transfer == 18 }

    private static let srgb = [31_270, 32_900, 64_000, 33_000, 30_000, 60_000, 15_000, 6_000]

    private static func areUsual(_ points: [Int]) -> Bool {
        zip(points, srgb).allSatisfy { abs($0 - $1) <= 1_000 }
    }

    /// Whether the white point is plausible, and the three colours span a triangle large enough to keep derived numbers
    /// small.
    private static func areSound(_ points: [Int]) -> Bool {
        guard points.count == 8, points.allSatisfy((0...100_000).contains),
            points[0...1].allSatisfy((20_000...50_000).contains), [3, 5, 7].allSatisfy({ points[$0] >= 1_000 })
        else { return false }
        let (red, green, blue) = (points[2...3].map { $0 }, points[4...5].map { $0 }, points[6...7].map { $0 })
        let area = (green[0] - red[0]) * (blue[1] - red[1]) - (blue[0] - red[0]) * (green[1] - red[1])
        return abs(area) >= 1_000_000_000
    }
}
