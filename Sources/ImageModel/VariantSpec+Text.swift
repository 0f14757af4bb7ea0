extension VariantSpec: CustomStringConvertible {
    /// The one spelling: `640x480-q80.webp`, `160y160-q80-axis2_5-enlarge.jpg`, `640x0.png`, `full-q80.webp`.
    package var description: String {
        var text = isFullSize ? "full" : "\(width)\(mode.rawValue)\(height)"
        if !format.isLossless { text += "-q\(quality)" }
        if axis != .centre { text += "-axis\(axis.x)_\(axis.y)" }
        if enlarge { text += "-enlarge" }
        return text + "." + format.suffix
    }
}
