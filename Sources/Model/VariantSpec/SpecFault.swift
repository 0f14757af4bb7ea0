package import Failures

/// Mistake in a variant spec as written.
package enum SpecFault: Error, Sendable, Hashable {
    /// No size at the beginning. `meant`: the spelling that was probably meant, if there is a near one.
    case unreadable(meant: String?)
    case size(String)
    case quality(String)
    case axis(String)
    /// An option whose value it does not accept.
    case value(String, meant: String)
    case option(String, meant: String?)
    case repeated(String)
    /// `profile` together with an option whose colours are sRGB.
    case profileBeside(String)
    case format(String, meant: String?)
    /// An image format that is read but not written.
    case unwritten(ImageFormat)

    /// Longest side that every output format can hold (WebP's 14 bits).
    package static let sideLimit = 16383

    package var kind: Code {
        switch self {
        case .unreadable: .unreadable
        case .size: .size
        case .quality: .quality
        case .axis: .axis
        case .value: .value
        case .option: .option
        case .repeated: .repeated
        case .profileBeside: .conflict
        case .format, .unwritten: .format
        }
    }

    var sentence: String {
        switch self {
        case .unreadable(let meant):
            "it does not begin with a size such as 640x480, 160y160, 320z240 or full.\(Self.hint(meant, "Write it as 640x480-q80.webp."))"
        case .size(let size):
            "\(size) is not a valid size. Sides are 0 to \(Self.sideLimit) pixels and not both 0; the source's own size is written full."
        case .quality(let text): "\(text) is not a quality. Write \(SpecOption.quality.value?.words ?? "")."
        case .axis(let text): "\(text) is not an axis. Write \(SpecOption.axis.value?.words ?? "")."
        case .value(let text, let meant): "\(text) has an invalid value: expected \(meant)."
        case .option(let text, let meant):
            "\(text) is not an option."
                + Self.hint(
                    meant,
                    text.hasPrefix("crop")
                        ? "To crop, write the size with y, as in 640y480." : "The options are \(Self.options).")
        case .repeated(let option): "\(option) is given twice. Give it once."
        case .profileBeside(let option):
            "profile keeps the source's own colours, and \(option) is drawn in sRGB. Leave one of them out."
        case .format(let text, let meant):
            (text.isEmpty ? "it does not end with a format." : "\(text) is not an image format.")
                + Self.hint(meant, "End it with \(Self.endings).")
        case .unwritten(let format): "\(format.rawValue) can be read but not written. Ask for \(Self.endings)."
        }
    }

    /// List of every option, for messages.
    static let options: String = {
        let words = SpecOption.allCases.filter { !$0.isOfAuto }.map {
            "-\($0.example)" + ($0 == .axis ? ", -north and the other eight points" : "")
        }
        let ofAuto = SpecOption.allCases.filter(\.isOfAuto).map { "-\($0.example)" }
        return words.dropLast().joined(separator: ", ") + " and \(words.last!); with .auto also "
            + ofAuto.joined(separator: " and ")
    }()
    /// Endings for messages: `.jpg, .png, .webp, .avif, .gif or .auto`.
    static let endings = ImageFormat.choice((ImageFormat.written.map(\.suffix) + ["auto"]).map { "." + $0 })

    /// The same fault with a suggested spelling.
    func meaning(_ meant: String?) -> SpecFault {
        switch self {
        case .unreadable: .unreadable(meant: meant)
        case .option(let text, _): .option(text, meant: meant)
        case .format(let text, _): .format(text, meant: meant)
        default: self
        }
    }

    private static func hint(_ meant: String?, _ otherwise: String) -> String {
        meant.map { " Did you mean \($0)?" } ?? " \(otherwise)"
    }

    package enum Code: String, FailureCode {
        case unreadable = "spec.unreadable"
        case size = "spec.size"
        case quality = "spec.quality"
        case axis = "spec.axis"
        case value = "spec.value"
        case option = "spec.option"
        case repeated = "spec.repeated"
        case conflict = "spec.conflict"
        case format = "spec.format"

        package var meaning: String {
            switch self {
            case .unreadable: "The variant does not begin with a size."
            case .size: "Both sides are 0, or one is larger than every format can hold."
            case .quality: "The quality is not a number from 1 to 100."
            case .axis: "The crop's axis is not two numbers from 0 to 10."
            case .value: "An option of the variant has an invalid value."
            case .option: "The variant has an option that does not exist."
            case .repeated: "The variant has an option twice."
            case .conflict: "The variant has two options that exclude each other."
            case .format: "The variant's format is missing, unknown, or not an output format."
            }
        }

        package var verdict: Verdict { .deadLetter }
    }
}
