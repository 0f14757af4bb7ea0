package import Images

/// A worker's request to an inspector: inspect the pictures in parts of one file.
package struct InspectionRequest: Sendable, Hashable {
    package var limits: RenderLimits
    /// Ranges of the file that each hold one picture.
    package var parts: [Range<Int>]
    /// Whether the pictures are a renderer's output: no bytes may follow the end of one.
    package var isOutput: Bool

    package init(limits: RenderLimits, parts: [Range<Int>], isOutput: Bool = false) {
        (self.limits, self.parts, self.isOutput) = (limits, parts, isOutput)
    }
}

/// Facts from a picture's header, and the bytes of it that a decoder may read.
package struct InspectedPicture: Sendable, Hashable {
    package let facts: PictureFacts
    /// Ranges that a decoder may read; nil: the whole picture.
    package let keep: [Range<Int>]?

    package init(facts: PictureFacts, keep: [Range<Int>]? = nil) { (self.facts, self.keep) = (facts, keep) }

    /// Most ranges of a picture.
    package static let pieceLimit = 256
}

/// An inspector's reply: the facts of each part, or the reason why it is refused.
package struct InspectionReply: Sendable, Equatable {
    package var results: [Result<InspectedPicture, RenderFailure>]
    package init(_ results: [Result<InspectedPicture, RenderFailure>]) { self.results = results }
}
