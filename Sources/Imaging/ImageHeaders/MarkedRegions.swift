internal import RenderProtocol
internal import VariantSpec

/// The parts of a picture that an XMP packet marks: faces and pets by the Metadata Working Group, and people by
/// Microsoft. They are fractions of the stored pixels, independent of orientation.
///
/// `XMPReader` feeds it with the elements inside the picture's own properties, by their full names.
struct MarkedRegions {
    private static let mwg = "http://www.metadataworkinggroup.com/schemas/regions/ "
    private static let area = "http://ns.adobe.com/xmp/sType/Area# "
    private static let side = "http://ns.adobe.com/xap/1.0/sType/Dimensions# "
    private static let people = "http://ns.microsoft.com/photo/1.2/t/Region# Rectangle"
    private static let item = "http://www.w3.org/1999/02/22-rdf-syntax-ns# li"

    /// The properties of a picture that mark regions.
    static let properties: Set<String> = [mwg + "Regions", "http://ns.microsoft.com/photo/1.2/ RegionInfo"]
    /// At least one name of each required namespace.
    static let names = properties.union([area, side, people])

    private var found: [KeptRegion] = []
    /// Open items by full name, the outermost first: a region may contain a list of its own, such as keywords.
    private var items: [[String: String]] = []
    /// Picture size that the regions refer to.
    private var size: [String: String] = [:]

    var isEmpty: Bool { found.isEmpty }

    /// Marked regions for stored pixels of this size. Empty if the packet's size has another shape, because such a
    /// picture was cut without updating its metadata.
    func regions(of stored: PixelSize) -> [KeptRegion] {
        if let width = size["w"].flatMap(Double.init), let height = size["h"].flatMap(Double.init), width > 0,
            height > 0
        {
            let stretch = width * Double(stored.height) / (height * Double(stored.width))
            guard (0.98...1.02).contains(stretch) else { return [] }
        }
        return found
    }

    mutating func open(_ name: String, _ attributes: [(name: String, value: String)]) {
        if name == Self.item { items.append([:]) }
        for attribute in attributes { set(attribute.name, attribute.value) }
    }

    /// Handles the end of an element, with the text after its last tag.
    mutating func close(_ name: String, _ text: () -> String) {
        if name.hasPrefix(Self.area) || name.hasPrefix(Self.side) || name == Self.mwg + "Type" || name == Self.people {
            set(name, text())
        }
        guard name == Self.item, let item = items.popLast(), found.count < KeptRegion.limit else { return }
        if let region = Self.rectangle(item) ?? Self.marked(item) { found.append(region) }
    }

    private mutating func set(_ name: String, _ value: String) {
        if name.hasPrefix(Self.side) {
            size[String(name.dropFirst(Self.side.count))] = value
        } else if !value.isEmpty, !items.isEmpty {
            items[items.count - 1][name] = value
        }
    }

    /// A region given by its centre; a circle has a diameter, in fractions of the width.
    private static func marked(_ item: [String: String]) -> KeptRegion? {
        func number(_ name: String) -> Double? { item[area + name].flatMap(Double.init) }
        let type = item[mwg + "Type"] ?? "Face"
        guard type == "Face" || type == "Pet", item[area + "unit"] ?? "normalized" == "normalized",
            let x = number("x"), let y = number("y"), let width = number("w") ?? number("d"),
            let height = number("h") ?? number("d")
        else { return nil }
        return KeptRegion(x: x - width / 2, y: y - height / 2, width: width, height: height)
    }

    /// A region given by its top left corner and its sides.
    private static func rectangle(_ item: [String: String]) -> KeptRegion? {
        let numbers = (item[people] ?? "").split(separator: ",").compactMap {
            Double($0.trimmingPrefix { $0 == " " }.prefix { $0 != " " })
        }
        guard numbers.count == 4 else { return nil }
        return KeptRegion(x: numbers[0], y: numbers[1], width: numbers[2], height: numbers[3])
    }
}
