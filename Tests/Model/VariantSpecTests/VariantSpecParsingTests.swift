import Canonical
import Failures
import TestSupport
import Testing
import VariantSpec

@Suite("Variant specs: one spelling out, several in", .timeLimit(.minutes(1)))
struct VariantSpecParsingTests {
    @Test(
        "What is read is written in its one spelling",
        arguments: [
            ("640x480-q80.webp", "640x480-q80.webp"),
            ("640x480.webp", "640x480-q80.webp"),
            ("640x480.jpeg", "640x480-q80.jpg"),
            ("160y160-enlarge-axis2_5-q75.jpg", "160y160-q75-axis2_5-enlarge.jpg"),
            ("160y160-axis5_5.jpg", "160y160-q80.jpg"),
            ("160x160-axis2_5.jpg", "160x160-q80.jpg"),
            ("320z240.webp", "320z240-q80.webp"),
            ("640x0.png", "640x0.png"),
            ("640x0-q80.png", "640x0.png"),
            ("0y640-axis1_1.png", "0x640.png"),
            ("full.webp", "full-q80.webp"),
            ("full-enlarge.png", "full.png"),
            ("full-q100.jpg", "full-q100.jpg"),
            ("16383x16383-q1.webp", "16383x16383-q1.webp"),
            ("0640x00480-q080.webp", "640x480-q80.webp"),
        ])
    func spelling(text: String, canonical: String) throws {
        let spec = try VariantSpec(text)
        #expect(spec.description == canonical)
        #expect(try VariantSpec(canonical) == spec)
    }

    @Test(
        "An invalid spec is refused with the reason and the likely meaning",
        arguments: [
            ("", "spec.unreadable", ""),
            (".webp", "spec.unreadable", ""),
            ("webp", "spec.unreadable", ""),
            ("x.webp", "spec.unreadable", ""),
            ("640.webp", "spec.unreadable", ""),
            ("640x480x2.webp", "spec.unreadable", ""),
            ("-1x480.webp", "spec.unreadable", ""),
            ("640X480.webp", "spec.unreadable", "Did you mean 640x480-q80.webp?"),
            ("640×480-q70.webp", "spec.unreadable", "Did you mean 640x480-q70.webp?"),
            ("FULL.webp", "spec.unreadable", "Did you mean full-q80.webp?"),
            ("0x0.webp", "spec.size", "written full"),
            ("0y0.png", "spec.size", "written full"),
            ("99999x1.webp", "spec.size", "16383"),
            ("16384x1.webp", "spec.size", "16383"),
            ("1x99999999999999999999999999.webp", "spec.size", "16383"),
            ("640x480-q0.webp", "spec.quality", "1 to 100"),
            ("640x480-q101.webp", "spec.quality", "1 to 100"),
            ("640x480-q.webp", "spec.quality", "1 to 100"),
            ("640x480-q0.png", "spec.quality", "1 to 100"),
            ("160y160-axis11_0.jpg", "spec.axis", "0 to 10"),
            ("160y160-axis5.jpg", "spec.axis", "0 to 10"),
            ("160y160-axis5_.jpg", "spec.axis", "0 to 10"),
            ("640x480-80.webp", "spec.option", "Did you mean 640x480-q80.webp?"),
            ("640x480-quality80.webp", "spec.option", "Did you mean 640x480-q80.webp?"),
            ("640x480-q=80.webp", "spec.option", "Did you mean 640x480-q80.webp?"),
            ("640x480-Enlarge.webp", "spec.option", "Did you mean 640x480-q80-enlarge.webp?"),
            ("640x480-blurry.webp", "spec.value", "pixels from 1 to 100"),
            ("640x480-crop.webp", "spec.option", "To crop, write the size with y, as in 640y480."),
            ("640x480-turn.webp", "spec.option", "The options are -q80, -axis5_5, -north"),
            ("640x480-rotate.webp", "spec.value", "90, 180 or 270 degrees"),
            ("640x480-rotate45.webp", "spec.value", "90, 180 or 270 degrees"),
            ("640x480-round0.webp", "spec.value", "pixels from 1 to 1000"),
            ("640x480-rotate90-rotate180.webp", "spec.repeated", "rotate"),
            ("640x480-round16-circle.webp", "spec.repeated", "the corners (round or circle)"),
            ("640x480-.webp", "spec.option", "\"\" is not an option. The options are"),
            ("640x480--q80.webp", "spec.option", "\"\" is not an option. The options are"),
            ("640x480-q80-q80.webp", "spec.repeated", "quality"),
            ("160y160-axis1_1-axis1_1.webp", "spec.repeated", "axis"),
            ("640x480-enlarge-enlarge.webp", "spec.repeated", "enlarge"),
            ("640x480-profile-bgff0000.webp", "spec.conflict", "bg is drawn in sRGB. Leave one of them out"),
            ("640x480-grey-profile.webp", "spec.conflict", "grey is drawn in sRGB. Leave one of them out"),
            ("640x480-wmlogo-profile.auto", "spec.conflict", "wm is drawn in sRGB. Leave one of them out"),
            ("640x480-q80", "spec.format", ".jpg, .png, .webp, .avif, .gif or .auto"),
            ("640x480.", "spec.format", ".jpg, .png, .webp, .avif, .gif or .auto"),
            ("640x480.bmp", "spec.format", ".jpg, .png, .webp, .avif, .gif or .auto"),
            ("640x480.WEBP", "spec.format", "Did you mean 640x480-q80.webp?"),
            ("640x480-q80.heic", "spec.format", "not written"),
            ("640x480.svg", "spec.format", "not written"),
            ("640x480-q80.webp ", "spec.format", "Did you mean 640x480-q80.webp?"),
        ])
    func refusal(text: String, code: String, sentence: String) {
        let failure = #expect(throws: SpecFailure.self) { try VariantSpec(text) }
        #expect(failure?.code == code)
        #expect(failure?.description.contains(sentence) == true, "\(failure.map(String.init(describing:)) ?? "")")
        #expect(failure?.verdict == .deadLetter)
    }

    @Test("Every spec that can be made is read back from its own spelling")
    func roundTrip() throws {
        var random = SeededRandom(seed: 1)
        for _ in 0..<20_000 {
            let (width, height) = (Int.random(in: 0...16383, using: &random), Int.random(in: 0...16383, using: &random))
            let spec = VariantSpec(
                width: random.next() % 5 == 0 ? 0 : width, height: random.next() % 5 == 0 ? 0 : height,
                mode: FitMode.allCases.randomElement(using: &random)!, quality: Int.random(in: 1...100, using: &random),
                format: [.jpeg, .png, .webp, .avif, .gif].randomElement(using: &random)!,
                enlarge: Bool.random(using: &random),
                axis: CropAxis(x: Int.random(in: 0...10, using: &random), y: Int.random(in: 0...10, using: &random)),
                extras: Self.extras(using: &random))
            #expect(try VariantSpec(spec.description) == spec)
        }
    }

    @Test(
        "A spec made in code keeps no profile beside what is drawn in sRGB",
        arguments: [
            (nil, nil, "64x64-q80-profile.webp"), (RGB(255, 0, 0), nil, "64x64-q80-bgff0000.webp"),
            (nil, Watermark(key: "logo"), "64x64-q80-wmlogo_10_10_100_20.webp"),
        ] as [(RGB?, Watermark?, String)])
    func profile(background: RGB?, watermark: Watermark?, text: String) throws {
        var extras = SpecExtras()
        (extras.keepsProfile, extras.background, extras.watermark) = (true, background, watermark)
        #expect(VariantSpec(width: 64, height: 64, format: .webp, extras: extras).description == text)
    }

    private static func extras(using random: inout SeededRandom) -> SpecExtras {
        var extras = SpecExtras()
        func some<Value>(_ value: Value) -> Value? { random.next() % 4 == 0 ? value : nil }
        func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
        let regions = [KeptRegion](checking: (0..<4 * number(1...5)).map { _ in number(0...500) }) ?? []
        extras.focus = some([Focus.smart, .point(x: number(0...1000), y: number(0...1000)), .regions(regions)][number(0...2)])
        (extras.isStill, extras.isTrimmed) = (some(true) ?? false, some(true) ?? false)
        extras.rotation = some([.quarterTurn, .upsideDown, .threeQuarterTurn][number(0...2)]) ?? .upright
        (extras.isPadded, extras.isGrey) = (some(true) ?? false, some(true) ?? false)
        extras.corners = some(Bool.random(using: &random) ? .circle : .round(number(1...1000)))
        for effect in SpecOption.effects { extras.effects[effect] = some(number(1...100)) }
        extras.background = some(RGB(UInt8(number(0...255)), UInt8(number(0...255)), UInt8(number(0...255))))
        extras.watermark = some(
            Watermark(
                key: ["a", "logo", String(repeating: "z9", count: 16)][number(0...2)],
                axis: CropAxis(x: number(0...10), y: number(0...10)), opacity: number(1...100), scale: number(1...100)))
        (extras.keepsProfile, extras.byteBudget) = (some(true) ?? false, some(number(256...99_999_999)))
        extras.accepts = some(AcceptedFormats(rawValue: number(0...3)))
        return extras
    }

    @Test(
        "Auto becomes what is accepted and what the source needs",
        arguments: [
            ("640x0.auto", 1, false, "640x0-q80.jpg"), ("640x0.auto", 1, true, "640x0.png"),
            ("640x0.auto", 9, true, "640x0.gif"),
            ("640x0-still.auto", 9, false, "640x0-q80.jpg"), ("640x0-bgff0000.auto", 1, true, "640x0-q80-bgff0000.jpg"),
            ("640x0-webp.auto", 1, true, "640x0-q80.webp"), ("640x0-webp.auto", 9, true, "640x0-q80.webp"),
            ("640x0-avif-webp.auto", 1, true, "640x0-q63.avif"), ("640x0-avif-webp.auto", 9, true, "640x0-q80.webp"),
            ("640x0-still-avif-webp.auto", 9, true, "640x0-q63.avif"), ("640x0-q50-avif.auto", 9, false, "640x0.gif"),
            ("640x0-q50-avif.auto", 1, false, "640x0-q50.avif"), ("640x0-still-webp.auto", 1, false, "640x0-q80.webp"),
            ("640x480-pad.auto", 1, false, "640x480-pad.png"), ("640x480-circle-avif.auto", 1, false, "640x480-q63-circle.avif"),
            ("640x480-round9-bgff0000.auto", 1, true, "640x480-q80-bgff0000-round9.jpg"),
            ("640x0-still-webp.auto", 2, false, "640x0-q80-still.webp"), ("640x0-q80.webp", 9, true, "640x0-q80.webp"),
        ])
    func auto(text: String, frames: Int, hasAlpha: Bool, chosen: String) throws {
        let spec = try VariantSpec(text).chosen(frames: frames, hasAlpha: hasAlpha, defaults: DefaultQualities())
        #expect(spec.description == chosen)
    }

    @Test(
        "An Accept header names what it names: wildcards and what is refused do not count",
        arguments: [
            ("image/avif,image/webp,image/apng,*/*;q=0.8", [.avif, .webp]), ("*/*", []), ("image/*", []),
            ("IMAGE/WEBP; q=0.5", [.webp]), ("image/avif;q=0, image/webp", [.webp]), ("", []), ("image/webpx", []),
        ] as [(String, AcceptedFormats)])
    func accept(header: String, formats: AcceptedFormats) { #expect(AcceptedFormats(header: header) == formats) }

    @Test("The rules give the default quality, and size steps to written specs only where they say so")
    func rules() throws {
        #expect(try CanonicalRules(defaultQuality: 70).spec(of: "641x100.webp").description == "641x100-q70.webp")
        let rounding = CanonicalRules(roundSizes: true)
        #expect(try rounding.spec(of: "641x100-q71.webp").description == "720x112-q80.webp")
        #expect(try rounding.spec(of: "full-q71.webp").description == "full-q80.webp")
        #expect(try rounding.spec(of: "3000x10.png").description == "3000x10.png")
    }

    @Test(
        "Size steps round the long side and the quality up; the short side follows, half up and at least 1",
        arguments: [
            ("80x80-q80.webp", "90x90-q80.webp"), ("64x48-q1.jpg", "90x68-q40.jpg"), ("31x1-q41.jpg", "60x2-q70.jpg"),
            ("1000y1-q90.jpg", "1024y1-q90.jpg"), ("0x2559-q91.jpg", "0x2560-q91.jpg"),
            ("2561x9-q100.jpg", "2561x9-q100.jpg"),
        ])
    func sizeSteps(exact: String, fitted: String) throws {
        let spec = SizeSteps().fitting(try VariantSpec(exact))
        #expect(spec.description == fitted)
        #expect(SizeSteps().fitting(spec) == spec)
    }

    @Test("Size steps may be given in any order, and none at all leaves specs as they are")
    func otherSteps() throws {
        let spec = try VariantSpec("80x40-q50.webp")
        #expect(
            SizeSteps(sizes: [200, 100, 0, -3, 100], qualities: [60, 400]).fitting(spec).description == "100x50-q60.webp")
        #expect(SizeSteps(sizes: [], qualities: []).fitting(spec) == spec)
    }
}
