import Telemetry
import Testing

@Suite("Numbers as text")
struct FigureTests {
    @Test(
        "A number has so many digits after the point",
        arguments: [
            (0.0, 1, "0.0"), (1234.56, 1, "1234.6"), (0.0004, 3, "0.000"), (0.0005, 3, "0.001"), (2.5, 0, "3"), (-0.25, 1, "-0.3"),
            (12.05, 3, "12.050"), (.infinity, 1, "0.0"), (.nan, 2, "0.00"), (1e300, 1, "0.0"),
        ])
    func text(_ value: Double, _ digits: Int, _ text: String) { #expect(Figure.text(value, digits: digits) == text) }
}
