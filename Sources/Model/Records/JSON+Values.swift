internal import Clocks
internal import Digest
internal import ImageModel
internal import JSONText
internal import VariantSpec

// JSON of the model's values: hexadecimal words, specs, sizes.

extension JSONWriter {
    mutating func hex(_ word: UInt64) { plain(upTo: 16) { Hex.write(word, to: $0) } }
    mutating func hex(_ digest: SHA256Digest) { plain(upTo: 64) { digest.writeHex(to: $0) } }
    mutating func spec(_ spec: VariantSpec) { plain(upTo: spec.byteLimit) { spec.write(to: $0) } }
}

extension JSONReader {
    /// Reads a string that `parse` accepts.
    mutating func value<Value>(_ expected: String, _ parse: (String) -> Value?) throws(JSONFailure) -> Value {
        let start = offset
        let text = try string()
        guard let value = parse(text) else { throw refuse(expected, text, at: start) }
        return value
    }

    mutating func version() throws(JSONFailure) -> SourceVersion {
        SourceVersion(word: try bytes("16 hexadecimal digits") { Hex.word($0) })
    }

    mutating func digest() throws(JSONFailure) -> SHA256Digest {
        try bytes("64 hexadecimal digits") { SHA256Digest(hex: $0) }
    }

    mutating func spec() throws(JSONFailure) -> VariantSpec { try bytes("a variant spec") { VariantSpec(written: $0) } }

    mutating func provenance() throws(JSONFailure) -> Provenance {
        try bytes("\"origin\" or a variant spec") {
            $0.elementsEqual("origin".utf8) ? .origin : VariantSpec(written: $0).map(Provenance.donor)
        }
    }

    /// Reads one side of an existing image.
    mutating func side() throws(JSONFailure) -> Int { try integer(in: 1...PixelSize.sideLimit) }

    /// Reads a part of an image. Sides are bounded, because they are divided by one another and rounded to whole
    /// pixels.
    mutating func region() throws(JSONFailure) -> Region {
        let start = offset
        var sides: [Double] = []
        try openArray()
        while try nextElement() { sides.append(try number()) }
        guard sides.count == 4 else {
            throw refuse("an array of x, y, width and height", "\(sides.count) numbers", at: start)
        }
        guard let region = Region(checkingX: sides[0], y: sides[1], width: sides[2], height: sides[3]) else {
            throw refuse("a rectangle that an image can show", "\(sides)", at: start)
        }
        return region
    }

    /// Reads a focus point; an empty array is none.
    mutating func focus() throws(JSONFailure) -> [KeptRegion] {
        let start = offset
        let numbers = try integers()
        if numbers.isEmpty { return [] }
        guard numbers.count == 2, let point = [KeptRegion](checking: numbers + [0, 0]) else {
            throw refuse("an empty array, or one of x and y in thousandths", "\(numbers.count) numbers", at: start)
        }
        return point
    }

    mutating func keptRegions() throws(JSONFailure) -> [KeptRegion] {
        let start = offset
        var regions: [KeptRegion] = []
        try openArray()
        while try nextElement() {
            let numbers = try integers()
            guard let region = [KeptRegion](checking: numbers)?.first, numbers.count == 4,
                regions.count < KeptRegion.limit
            else {
                throw refuse(
                    "at most \(KeptRegion.limit) arrays of x, y, width and height in thousandths",
                    "\(regions.count + 1) arrays, the last of \(numbers.count) numbers", at: start)
            }
            regions.append(region)
        }
        return regions
    }

    private mutating func integers() throws(JSONFailure) -> [Int] {
        var numbers: [Int] = []
        try openArray()
        while try nextElement() { numbers.append(try integer(in: 0...1000)) }
        return numbers
    }

    /// Reads a time, limited to the range of dates. A number outside has no better meaning than the nearest date.
    mutating func time() throws(JSONFailure) -> WallTime {
        RecordLimits.time(WallTime(milliseconds: try integer("Unix time in milliseconds")))
    }

    /// Reads a number of whole milliseconds.
    mutating func duration(in range: ClosedRange<Duration>) throws(JSONFailure) -> Duration {
        .milliseconds(try integer(in: range.lowerBound.milliseconds...range.upperBound.milliseconds))
    }

    mutating func epoch() throws(JSONFailure) -> Int64 { try integer(in: RecordLimits.epochs) }

    mutating func integer(in range: ClosedRange<Int64>) throws(JSONFailure) -> Int64 {
        Int64(try integer(in: Int(range.lowerBound)...Int(range.upperBound)))
    }

    private mutating func bytes<Value>(
        _ expected: String, _ parse: (UnsafeBufferPointer<UInt8>) -> Value?
    ) throws(JSONFailure) -> Value {
        let start = offset
        var text = ""
        let value = try withString { (bytes) throws(JSONFailure) -> Value? in
            let value = parse(bytes)
            if value == nil { text = String(decoding: bytes.prefix(80), as: UTF8.self) }
            return value
        }
        guard let value else { throw refuse(expected, text, at: start) }
        return value
    }
}

extension Optional {
    /// The value of a required field.
    func field(_ name: String) throws(JSONFailure) -> Wrapped {
        guard let self else { throw .missingField(name) }
        return self
    }
}
