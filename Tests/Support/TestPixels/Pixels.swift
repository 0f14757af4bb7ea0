/// A picture in a test's memory: 8 bits a channel, rows from the top, 1 to 4 channels side by side.
package struct Pixels: Sendable, Hashable {
    package let width: Int
    package let height: Int
    package let channels: Int
    package var bytes: [UInt8]

    package init(width: Int, height: Int, channels: Int, bytes: [UInt8]) {
        (self.width, self.height, self.channels, self.bytes) = (width, height, channels, bytes)
    }

    package subscript(x: Int, y: Int, channel: Int) -> UInt8 { bytes[(y * width + x) * channels + channel] }

    /// Mean absolute difference of the channels, with the other picture moved by whole pixels; what has no counterpart is
    /// left out. nil if the sizes differ.
    package func difference(from other: Pixels, movedBy move: (x: Int, y: Int) = (0, 0)) -> Double? {
        guard width == other.width, height == other.height, channels == other.channels else { return nil }
        var (sum, count) = (0, 0)
        for y in max(0, move.y)..<max(max(0, move.y), min(height, height + move.y)) {
            for x in max(0, move.x)..<max(max(0, move.x), min(width, width + move.x)) {
                let (here, there) = ((y * width + x) * channels, ((y - move.y) * width + x - move.x) * channels)
                for c in 0..<channels { sum += abs(Int(bytes[here + c]) - Int(other.bytes[there + c])) }
                count += channels
            }
        }
        return count == 0 ? 0 : Double(sum) / Double(count)
    }

    /// How a channel runs along an axis: the straight line through the means of its columns (or rows), as its values at
    /// the picture's two edges. It reads from a picture of a coordinate gradient what part of it is shown.
    ///
    /// The outermost three are left out: a resize has less to go by there.
    package func edges(of channel: Int, alongX: Bool) -> (Double, Double) {
        let (count, across) = alongX ? (width, height) : (height, width)
        let centre = Double(count) / 2
        let used = count > 40 ? 3..<count - 3 : 0..<count
        var (sum, moment, spread) = (0.0, 0.0, 0.0)
        for i in used {
            var total = 0
            for j in 0..<across { total += Int(alongX ? self[i, j, channel] : self[j, i, channel]) }
            let (mean, at) = (Double(total) / Double(across), Double(i) + 0.5 - centre)
            (sum, moment, spread) = (sum + mean, moment + mean * at, spread + at * at)
        }
        let (middle, slope) = (sum / Double(used.count), spread > 0 ? moment / spread : 0)
        return (middle - slope * centre, middle + slope * centre)
    }
}
