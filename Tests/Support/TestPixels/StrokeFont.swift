/// Letters as strokes, so that text can be drawn at any size without a font of the system.
///
/// A glyph is polylines of points "xy", 0...4 across and 0 (ascender) to 8 (descender) down; its baseline is at 6.
enum StrokeFont {
    static let advance = 5.4
    static let height = 8.0

    /// Polylines of a character; none for what has no glyph, which is a space.
    static func strokes(of character: Character) -> [[(x: Double, y: Double)]] {
        (glyphs[character] ?? "").split(separator: " ").map { stroke in
            let digits = stroke.compactMap(\.wholeNumberValue).map(Double.init)
            return stride(from: 0, to: digits.count - 1, by: 2).map { (digits[$0], digits[$0 + 1]) }
        }
    }

    private static let glyphs: [Character: String] = [
        "a": "12324346 4414051645", "b": "0006 0312324345361605", "c": "4332120305163645", "d": "4046 4332120305163645",
        "e": "04444332120305163645", "f": "40302126 0232", "g": "42473818 4332120305163645", "h": "0006 0312324346",
        "i": "2226 2021", "j": "32372818 3031", "k": "0006 4204 1346", "l": "2026", "m": "0206 03122326 23324346",
        "n": "0206 0312324346", "o": "123243453616050312", "p": "0208 0312324345361605", "q": "4248 4332120305163645",
        "r": "0206 04122232", "s": "43321203143445361605", "t": "20253645 0242", "u": "0205163645 4246", "v": "022642",
        "w": "0216243642", "x": "0246 4206", "y": "0226 4208", "z": "02420646", "A": "062046 1434",
        "E": "40000646 0333",
        "M": "0600234046", "R": "06003041423303 2346", "T": "0040 2026", "0": "103041453616050110", "1": "112026",
        "2": "01103041420646", "3": "0110304132233445361605", "4": "300444 3036", "5": "400003334445361605",
        "6": "40100305163645443304", "7": "004016", "8": "103041321304051636454432130110",
        "9": "1636454130100102133343", ".": "2526", "-": "1434",
    ]
}
