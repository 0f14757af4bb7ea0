package import ImageModel

/// A spec as tables of tests write it: `160y160-q80-axis0_0.jpg`, quality 80 where none is written.
package func spec(_ text: String) -> VariantSpec {
    let dot = text.lastIndex(of: ".")
    let format = dot.flatMap { ImageFormat(suffix: text[text.index(after: $0)...]) } ?? .jpeg
    let parts = text[..<(dot ?? text.endIndex)].split(separator: "-")
    let letter = parts[0].firstIndex { "xyz".contains($0) }
    func number(_ text: Substring) -> Int { Int(text) ?? 0 }
    var (quality, enlarge, axis) = (80, false, CropAxis.centre)
    for option in parts.dropFirst() {
        if option == "enlarge" { enlarge = true }
        if option.hasPrefix("q") { quality = number(option.dropFirst()) }
        if option.hasPrefix("axis") {
            let pair = option.dropFirst(4).split(separator: "_")
            axis = CropAxis(x: number(pair[0]), y: number(pair[1]))
        }
    }
    guard parts[0] != "full", let letter else {
        return VariantSpec(width: 0, height: 0, quality: quality, format: format)
    }
    return VariantSpec(
        width: number(parts[0][..<letter]), height: number(parts[0][parts[0].index(after: letter)...]),
        mode: FitMode(rawValue: String(parts[0][letter])) ?? .inside, quality: quality, format: format, enlarge: enlarge,
        axis: axis)
}
