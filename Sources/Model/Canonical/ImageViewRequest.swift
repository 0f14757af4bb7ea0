internal import VariantSpec

/// Request of a NOS imageView query, read parameter by parameter in any order.
///
/// Of repeated parameters the first counts; the values of later ones are not even parsed. `thumbnail` takes precedence
/// over its older spelling `param`, in any order.
struct ImageViewRequest {
    private var thumbnail: (width: Int, height: Int, mode: FitMode)?
    private var param: (width: Int, height: Int, mode: FitMode)?
    private var quality: Int?
    private var format: ImageFormat?
    private var enlarge: Bool?
    private var axis: CropAxis?
    private var exact: Bool?
    private var isMarked = false
    private var isStill: Bool?

    /// The dialect's parameters in a URL's query, and the empty pairs between them; nil if the query has no imageView
    /// operation.
    static func request(in url: DialectURL) throws(URLFault) -> DialectRequest? {
        guard let query = url.query, isMentioned(in: query) else { return nil }
        var parameters = ImageViewRequest()
        for pair in query.pairs { try parameters.read(name: query.name(pair), value: query.value(pair)) }
        let own = query.pairs.indices.filter {
            let text = query.text(query.pairs[$0])
            return text.isEmpty || owns(pair: text)
        }
        return DialectRequest(
            spec: parameters.spec(path: url.path, defaults: url.defaults), isExact: parameters.exact ?? false,
            pairs: Set(own))
    }

    /// Whether an operation is `imageView`: at the start of a pair, or after a pipe (already escaped as `%7C` here).
    private static func isMentioned(in query: URLQuery) -> Bool {
        let word = Array("imageView".utf8)
        return query.pairs.contains { pair in
            let text = query.text(pair)
            return text.indices.contains { i in
                guard i == text.startIndex || (i - 3 >= text.startIndex && text[(i - 3)..<i].elementsEqual("%7C".utf8)),
                    text[i...].starts(with: word)
                else { return false }
                let after = i + word.count
                return after == text.endIndex || text[after] == Byte.equals || text[after...].starts(with: "%7C".utf8)
            }
        }
    }

    private static let names = [
        "imageView", "thumbnail", "param", "quality", "type", "enlarge", "axis", "tostatic", "stripmeta", "exact",
        "center", "watermark", "crop", "rotate", "blur",
    ].map { Array($0.utf8) }

    /// Whether a parameter belongs to the dialect; all others belong to the source.
    private static func owns(pair: ArraySlice<UInt8>) -> Bool {
        let name = pair.prefix { $0 != Byte.equals }
        return names.contains { $0.elementsEqual(name) }
    }

    private mutating func read(name: ArraySlice<UInt8>, value: ArraySlice<UInt8>?) throws(URLFault) {
        let name = String(decoding: name, as: UTF8.self)
        let text = value.map { String(decoding: $0, as: UTF8.self) }
        guard !name.contains("%7C"), text?.contains("%7C") != true else {
            throw .unsupported("a pipe of several operations", instead: "Ask for one imageView operation, without |.")
        }
        func wrong(_ expected: String) -> URLFault {
            .parameter(of: .imageView, name: name, value: text ?? "", expected: expected)
        }
        func flag() throws(URLFault) -> Bool {
            switch text {
            case nil, "", "1": return true
            case "0": return false
            default: throw wrong("\(name)=0 or \(name)=1")
            }
        }
        switch name {
        case "imageView":
            guard !isMarked else { return }
            guard try flag() else { throw wrong("imageView or imageView=1") }
            isMarked = true
        case "thumbnail":
            guard thumbnail == nil else { return }
            thumbnail = Self.size(value)
            if thumbnail == nil { throw wrong(Self.sizes) }
        case "param":
            guard param == nil else { return }
            param = Self.size(value)
            if param == nil { throw wrong(Self.sizes) }
        case "quality":
            guard quality == nil else { return }
            guard let number = SpecNumber.whole(value), (1...100).contains(number) else {
                throw wrong("a number from 1 to 100")
            }
            quality = number
        case "type":
            guard format == nil else { return }
            guard let asked = ImageFormat(suffix: text?.lowercased() ?? "") else {
                throw wrong(ImageFormat.writtenSuffixes)
            }
            guard asked.isWritten else {
                throw .unsupported(
                    "the format \(asked.rawValue)", instead: "Ask for type=\(ImageFormat.writtenSuffixes).")
            }
            format = asked
        case "enlarge":
            if enlarge == nil { enlarge = try flag() }
        case "axis":
            guard axis == nil else { return }
            guard let asked = CropAxis(text: value) else { throw wrong("two numbers from 0 to 10, as in axis=5_2") }
            axis = asked
        case "tostatic":
            if isStill == nil { isStill = try flag() }
        case "exact":
            if exact == nil { exact = try flag() }
        case "center":
            throw .unsupported("a crop around a point of the source (center)", instead: "Ask for axis=x_y, in tenths.")
        case "watermark", "crop", "rotate", "blur":
            throw .unsupported(
                "the imageView operation \(name)", instead: "Ask for thumbnail, quality, type, enlarge and axis.")
        default:
            return
        }
    }

    /// Spec of the request. Without a thumbnail it has the source's own size. Without a type it has the format of the
    /// path's suffix if that can be rendered, else JPEG.
    ///
    /// As in NOS, it renders only the first frame unless `tostatic=0` asks for all frames. A crop always renders only
    /// the first frame.
    private func spec(path: ArraySlice<UInt8>, defaults: DefaultQualities) -> VariantSpec {
        let size = thumbnail ?? param ?? (width: 0, height: 0, mode: .inside)
        let format = format ?? Self.format(ofPath: path)
        var extras = SpecExtras()
        extras.isStill = isStill ?? true || size.mode == .crop
        return VariantSpec(
            width: size.width, height: size.height, mode: size.mode,
            quality: quality ?? defaults.quality(for: format), format: format, enlarge: enlarge ?? false,
            axis: axis ?? .centre, extras: extras)
    }

    private static func format(ofPath path: ArraySlice<UInt8>) -> ImageFormat {
        // If the last dot comes before the last slash, the text after it is not a format.
        guard let dot = path.lastIndex(of: Byte.dot),
            let format = ImageFormat(utf8: path[(dot + 1)...].map(Byte.lowered)[...]), format.isWritten
        else { return .jpeg }
        return format
    }

    private static let sizeLimit = 4096
    private static let sizes =
        "a size such as 200x100, 200y200, 200z100, 200x0 or 0x100, sides 0 to \(sizeLimit) and not both 0"

    private static func size(_ value: ArraySlice<UInt8>?) -> (width: Int, height: Int, mode: FitMode)? {
        guard let value, let size = SpecSize(text: value), max(size.width, size.height) <= sizeLimit,
            size.width > 0 || size.height > 0
        else { return nil }
        return (size.width, size.height, size.mode)
    }
}
