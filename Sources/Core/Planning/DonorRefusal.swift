/// Why a stored variant may not stand in for a source: one case for each rule, in the order in which they are asked.
package enum DonorRefusal: String, Error, Sendable, Hashable, CaseIterable {
    case version
    case stale
    case generation
    case enlarged
    case burnedIn
    case frames
    case pixels
    case region
    case scale
    case lossy
    case alpha
    case chroma
    case unmeasured
    case loss

    /// For people who ask why something was fetched.
    package var sentence: String {
        switch self {
        case .version: "It was made from another version of the source."
        case .stale: "It has expired."
        case .generation: "It was itself made from a donor."
        case .enlarged: "It was enlarged: it has more pixels than the source gave it."
        case .burnedIn: "Something is laid over it or taken off it, or it has other colours than sRGB."
        case .frames: "It does not have all the frames of a source that moves."
        case .pixels: "What is wanted is decided by looking at all of the source's own pixels."
        case .region: "It does not show all of the source that is wanted."
        case .scale: "It has fewer pixels than are wanted."
        case .lossy: "It is lossy, and a lossless variant is wanted."
        case .alpha: "Its format keeps no transparency, and the source has some or may have."
        case .chroma: "Its chroma has half the resolution, and the wanted variant has full chroma."
        case .unmeasured: "What standing in would cost was never measured for its format, quality and size."
        case .loss: "Standing in would cost more quality than reuse.lossBudget allows."
        }
    }
}
