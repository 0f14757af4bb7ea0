/// EXIF's eight ways in which an image may be stored turned or mirrored.
///
/// Pixels stay as stored until the last step of a render: turning a small result is cheap, turning the source is not.
package enum Orientation: Int, Sendable, CaseIterable {
    case upright = 1
    case mirrored, upsideDown, flipped, transposed, quarterTurn, transversed, threeQuarterTurn

    /// Whether rows are stored as columns.
    package var swapsSides: Bool { rawValue >= 5 }

    /// Size that people see of an image stored in `size`. The function is its own inverse.
    package func upright(_ size: PixelSize) -> PixelSize {
        swapsSides ? PixelSize(width: size.height, height: size.width) : size
    }

    /// Position, in the stored image, of a region of the upright image. `upright` is the whole image's size as people
    /// see it.
    package func stored(_ region: Region, of upright: PixelSize) -> Region {
        let (x, y, w, h) = (region.x, region.y, region.width, region.height)
        let right = Double(upright.width) - x - w
        let below = Double(upright.height) - y - h
        switch self {
        case .upright: return region
        case .mirrored: return Region(x: right, y: y, width: w, height: h)
        case .upsideDown: return Region(x: right, y: below, width: w, height: h)
        case .flipped: return Region(x: x, y: below, width: w, height: h)
        case .transposed: return Region(x: y, y: x, width: h, height: w)
        case .quarterTurn: return Region(x: y, y: right, width: h, height: w)
        case .transversed: return Region(x: below, y: right, width: h, height: w)
        case .threeQuarterTurn: return Region(x: below, y: x, width: h, height: w)
        }
    }
}

extension Orientation {
    /// Clockwise turn by 90, 180 or 270 degrees.
    init?(degrees: Int) {
        switch degrees {
        case 90: self = .quarterTurn
        case 180: self = .upsideDown
        case 270: self = .threeQuarterTurn
        default: return nil
        }
    }

    /// Degrees of a clockwise turn; nil if the orientation is none.
    var degrees: Int? { [90, 180, 270].first { Orientation(degrees: $0) == self } }
}
