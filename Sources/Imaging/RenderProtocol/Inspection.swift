package import Images

/// What a worker asks of an inspector child: what the pictures in parts of one file are.
package struct InspectionRequest: Sendable, Hashable {
    package var limits: RenderLimits
    /// Each holds one picture.
    package var parts: [Range<Int>]
    /// The pictures are a renderer's: nothing may lie behind the end of one.
    package var isOutput: Bool

    package init(limits: RenderLimits, parts: [Range<Int>], isOutput: Bool = false) {
        (self.limits, self.parts, self.isOutput) = (limits, parts, isOutput)
    }
}

/// What a picture's header says, and which bytes of it a decoder may see.
package struct InspectedPicture: Sendable, Hashable {
    package let facts: PictureFacts
    /// nil: all of them.
    package let keep: [Range<Int>]?

    package init(facts: PictureFacts, keep: [Range<Int>]? = nil) { (self.facts, self.keep) = (facts, keep) }

    /// More pieces are not kept of a picture.
    package static let pieceLimit = 256
}

/// What an inspector answers: for each part what it holds, or why it is refused.
package struct InspectionReply: Sendable, Equatable {
    package var results: [Result<InspectedPicture, RenderFailure>]
    package init(_ results: [Result<InspectedPicture, RenderFailure>]) { self.results = results }
}
