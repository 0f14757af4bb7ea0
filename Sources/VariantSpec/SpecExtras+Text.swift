extension SpecExtras {
    /// The options in the order in which they are spelt, each with its dash.
    func options(isEnlarged: Bool) -> [String] {
        var options: [String] = []
        switch focus {
        case .point(let x, let y): options.append("-focus\(x)_\(y)")
        case .smart: options.append("-smart")
        case nil: break
        }
        if isEnlarged { options.append("-enlarge") }
        if isStill { options.append("-still") }
        if isTrimmed { options.append("-trim") }
        if let blur { options.append("-blur\(blur)") }
        if let sharpen { options.append("-sharpen\(sharpen)") }
        if let background { options.append("-bg\(background.hex)") }
        if let mark = watermark {
            options.append("-wm\(mark.key)_\(mark.axis.x)_\(mark.axis.y)_\(mark.opacity)_\(mark.scale)")
        }
        if keepsProfile { options.append("-profile") }
        if let byteBudget { options.append("-upto\(byteBudget)") }
        if accepts?.contains(.avif) == true { options.append("-avif") }
        if accepts?.contains(.webp) == true { options.append("-webp") }
        return options
    }
}
