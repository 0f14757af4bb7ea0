internal import Images
internal import Ports
internal import Posix
internal import RenderProtocol

extension InspectedPicture {
    /// The picture for a decoder: the file itself, or a copy of the parts that the decoder may read.
    func picture(in file: OpenFile) throws(RenderFailure) -> Picture {
        guard let keep else { return Picture(facts: facts, file: file) }
        do throws(SystemFailure) {
            let kept = try OpenFile(anonymous: "picture")
            for range in keep { try kept.append(range, of: file) }
            kept.seal()
            return Picture(facts: facts, file: kept)
        } catch {
            throw .noSpace(reason: error.description)
        }
    }
}
