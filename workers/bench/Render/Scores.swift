/// SSIMULACRA2 over many images: a mean alone would hide a few bad ones.
struct Scores {
    let mean: Double
    /// One image in twenty is worse.
    let fifthPercentile: Double
    let least: Double

    /// Summarises scores; nil if there are none.
    init?(_ scores: [Double]) {
        guard !scores.isEmpty else { return nil }
        let sorted = scores.sorted()
        mean = sorted.reduce(0, +) / Double(sorted.count)
        (fifthPercentile, least) = (sorted[sorted.count / 20], sorted[0])
    }
}
