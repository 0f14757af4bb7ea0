internal import RenderProtocol
internal import VariantSpec

/// The parts of a picture that an XMP packet marks: faces and pets of the Metadata Working Group's regions, and people of
/// Microsoft's. In fractions of the stored pixels, whatever the orientation.
///
/// Fed by `XMPReader` with the elements inside of the picture's own properties, by their full names.
struct MarkedRegions {
    private static let mwg = "http://www.metadataworkinggroup.com/schemas/regions/ "
    private static let area = "http://ns.adobe.com/xmp/sType/Area# "
    private static let side = "http://ns.adobe.com/xap/1.0/sType/Dimensions# "
    private static let people = "http://ns.microsoft.com/photo/1.2/t/Region# Rectangle"
    private static let item = "http://www.w3.org/1999/02/22-rdf-syntax-ns# li"

    /// The properties of a picture that mark regions.
    static let properties: Set<String> = [mwg + "Regions", "http://ns.microsoft.com/photo/1.2/ RegionInfo"]
    /// One name or more of each namespace that is looked for.
    static let names = properties.union([area, side, people])

    private var found: [KeptRegion] = []
    /// Of the items that are open, by full name, the outermost first: a region may hold a list of its own, such as of
    /// keywords.
    private var items: [[String: String]] = []
    /// The size that the regions are of.
    private var size: [String: String] = [:]

    var isEmpty: Bool { found.isEmpty }

    /// What is marked in stored pixels of this size; nothing where it is of a picture of another shape, since that was cut
    /// without its metadata.
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

    /// The end of an element, with the text behind its last tag.
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

    /// Around its middle; a circle has a diameter, in fractions of the width.
    private static func marked(_ item: [String: String]) -> KeptRegion? {
        func number(_ name: String) -> Double? { item[area + name].flatMap(Double.init) }
        let type = item[mwg + "Type"] ?? "Face"
        guard type == "Face" || type == "Pet", item[area + "unit"] ?? "normalized" == "normalized",
            let x = number("x"), let y = number("y"), let width = number("w") ?? number("d"),
            let height = number("h") ?? number("d")
        else { return nil }
        return KeptRegion(x: x - width / 2, y: y - height / 2, width: width, height: height)
    }

    /// Its left upper corner, then its sides.
    private static func rectangle(_ item: [String: String]) -> KeptRegion? {
        let numbers = (item[people] ?? "").split(separator: ",").compactMap {
            Double($0.trimmingPrefix { $0 == " " }.prefix { $0 != " " })
        }
        guard numbers.count == 4 else { return nil }
        return KeptRegion(x: numbers[0], y: numbers[1], width: numbers[2], height: numbers[3])
    }
}
