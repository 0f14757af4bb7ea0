internal import Ports
internal import Posix

extension OwnThread {
    /// Runs a blocking call on a thread of ours and returns its result.
    static func result<R: Sendable>(
        _ name: String, _ body: @escaping @Sendable () throws(LogFailure) -> R
    ) async throws(LogFailure) -> R {
        let result = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<R, LogFailure>, Never>) in
            OwnThread.start(name) {
                let result: Result<R, LogFailure>
                do throws(LogFailure) { result = .success(try body()) } catch { result = .failure(error) }
                continuation.resume(returning: result)
            }
        }
        return try result.get()
    }
}
