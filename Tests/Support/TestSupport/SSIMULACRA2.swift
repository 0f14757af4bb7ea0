package import Foundation

/// How like a picture is to a reference, by the tool in `../shared`: 100 for the same, 90 for what no eye tells apart.
package enum SSIMULACRA2 {
    private static let tool = Shared.part("tools/ssimulacra2_rs")
    package static let isHere = tool != nil

    /// Both are files of one size.
    package static func score(_ picture: URL, against reference: URL) async throws -> Double {
        let (process, pipe) = (Process(), Pipe())
        process.executableURL = tool
        process.arguments = ["image", reference.path, picture.path]
        process.standardOutput = pipe
        let said = try await withCheckedThrowingContinuation { (done: CheckedContinuation<Data, any Error>) in
            process.terminationHandler = { _ in done.resume(returning: pipe.fileHandleForReading.availableData) }
            do { try process.run() } catch { done.resume(throwing: error) }
        }
        let words = String(decoding: said, as: UTF8.self).split(whereSeparator: \.isWhitespace)
        guard let score = words.last.flatMap({ Double($0) }) else { throw Unscored(picture: picture.path) }
        return score
    }

    private struct Unscored: Error, CustomStringConvertible {
        let picture: String
        var description: String { "ssimulacra2_rs gave no score for \(picture)." }
    }
}
