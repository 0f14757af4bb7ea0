internal import RenderKit
internal import Testing
internal import VariantSpec

@Suite("SVG: roots with two units are given to libvips in pixels", .timeLimit(.minutes(1)))
struct SVGRepairTests {
    @Test(
        "Both sides, in either order, behind all that a root may follow; nothing else",
        arguments: [
            ("<svg width='100mm' height='60'/>", "<svg width='378' height='60'/>"),
            ("<svg height = \"60\" width = \"10EM\">", "<svg height = \"60\" width = \"378\">"),
            ("<svg stroke-width='2' width='1e2px' height='6pt'/>", "<svg stroke-width='2' width='378' height='60'/>"),
            (
                "<?xml version='1.0'?><!-- <svg width='1mm' height='1'> --><!DOCTYPE svg [<!ENTITY a 'b'>]>\n<svg\nwidth='9mm'\nheight='7'><rect width='1mm' height='1'/></svg>",
                "<?xml version='1.0'?><!-- <svg width='1mm' height='1'> --><!DOCTYPE svg [<!ENTITY a 'b'>]>\n<svg\nwidth='378'\nheight='60'><rect width='1mm' height='1'/></svg>"
            ),
            ("<svg width='100mm' height='60mm'/>", nil), ("<svg width='100' height='60px'/>", nil),
            ("<svg width='100mm' viewBox='0 0 1 1'/>", nil), ("<svg><rect width='1mm' height='1'/></svg>", nil),
            ("<svg width=", nil), ("<svg width='1mm' height='1'", nil), ("<!-- <svg width='1mm' height='1'>", nil),
            // Seen to fail: it ended the process, because each side was replaced where it stood before.
            ("<svg width=\"1mm height='10000000000000mm'\">", nil),
            ("<html><svg width='1mm' height='1'/></html>", nil), ("<", nil), ("", nil),
        ] as [(String, String?)])
    func repaired(file: String, expected: String?) {
        let bytes = Array(file.utf8).withUnsafeBytes {
            SVGRepair.repaired($0, PixelSize(width: 378, height: 60))
        }
        #expect(bytes.map { String(decoding: $0, as: UTF8.self) } == expected)
    }
}
