internal import Foundation

/// Text and lines on flat colour, antialiased as browsers and office programs draw them: what codecs and resamplers that
/// are tuned for photographs spoil most.
package struct Drawing {
    package typealias Colour = (red: Double, green: Double, blue: Double)
    package let width: Int
    package let height: Int
    private var bytes: [UInt8]

    package init(width: Int, height: Int, paper: Colour = (255, 255, 255)) {
        (self.width, self.height) = (width, height)
        bytes = [UInt8](repeating: 0, count: width * height * 3)
        fill(0, 0, width, height, paper)
    }

    package var pixels: Pixels { Pixels(width: width, height: height, channels: 3, bytes: bytes) }

    package mutating func fill(_ x: Int, _ y: Int, _ width: Int, _ height: Int, _ colour: Colour) {
        let level = [colour.red, colour.green, colour.blue].map { UInt8(max(0, min(255, $0.rounded()))) }
        for row in max(0, y)..<max(0, y, min(self.height, y + height)) {
            for column in max(0, x)..<max(0, x, min(self.width, x + width)) {
                let place = (row * self.width + column) * 3
                (bytes[place], bytes[place + 1], bytes[place + 2]) = (level[0], level[1], level[2])
            }
        }
    }

    /// A line with round ends, `thick` pixels wide.
    package mutating func line(
        _ from: (x: Double, y: Double), _ to: (x: Double, y: Double), thick: Double, _ colour: Colour
    ) {
        let reach = thick / 2 + 1
        let (dx, dy) = (to.x - from.x, to.y - from.y)
        let length = dx * dx + dy * dy
        let left = max(0, Int(min(from.x, to.x) - reach))
        let right = min(width - 1, Int(max(from.x, to.x) + reach))
        let top = max(0, Int(min(from.y, to.y) - reach))
        let bottom = min(height - 1, Int(max(from.y, to.y) + reach))
        guard left <= right, top <= bottom else { return }
        for y in top...bottom {
            for x in left...right {
                let (px, py) = (Double(x) + 0.5 - from.x, Double(y) + 0.5 - from.y)
                let along = length == 0 ? 0 : max(0, min(1, (px * dx + py * dy) / length))
                let (ex, ey) = (px - along * dx, py - along * dy)
                let cover = thick / 2 + 0.5 - (ex * ex + ey * ey).squareRoot()
                if cover > 0 { blend(x, y, min(1, cover), colour) }
            }
        }
    }

    private mutating func blend(_ x: Int, _ y: Int, _ cover: Double, _ colour: Colour) {
        let place = (y * width + x) * 3
        func mixed(_ old: UInt8, _ new: Double) -> UInt8 {
            UInt8((Double(old) + (new - Double(old)) * cover).rounded())
        }
        bytes[place] = mixed(bytes[place], colour.red)
        bytes[place + 1] = mixed(bytes[place + 1], colour.green)
        bytes[place + 2] = mixed(bytes[place + 2], colour.blue)
    }

    /// One line of text, its ascender at `y`; `size` is from ascender to descender.
    package mutating func text(
        _ text: String, _ x: Double, _ y: Double, size: Double, thick: Double = 0.11, _ colour: Colour
    ) {
        let unit = size / StrokeFont.height
        for (number, character) in text.enumerated() {
            let left = x + Double(number) * StrokeFont.advance * unit
            for stroke in StrokeFont.strokes(of: character) {
                for (from, to) in zip(stroke, stroke.dropFirst()) {
                    line(
                        (left + from.x * unit, y + from.y * unit), (left + to.x * unit, y + to.y * unit),
                        thick: max(0.9, thick * size), colour)
                }
            }
        }
    }

    package mutating func circle(_ x: Double, _ y: Double, radius: Double, thick: Double, _ colour: Colour) {
        let steps = max(12, Int(radius))
        for i in 0..<steps {
            let (a, b) = (Double(i) / Double(steps) * 2 * .pi, Double(i + 1) / Double(steps) * 2 * .pi)
            line(
                (x + radius * cos(a), y + radius * sin(a)), (x + radius * cos(b), y + radius * sin(b)), thick: thick,
                colour)
        }
    }
}
