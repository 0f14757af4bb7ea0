internal import Images
internal import Ports
internal import Posix
internal import RenderProtocol

/// Runs one render at a time, on a process of its family.
///
/// - Concurrency: `run` has a thread of its own.
struct RendererSlot: Sendable {
    let configuration: RendererConfiguration
    let queue: RenderQueue
    let budget: RenderBudget
    let family: RendererFamily

    /// Renders queued entries until the queue is stopped.
    func run() {
        while let entry = queue.next() {
            if entry.pending.isAnswered { continue }
            entry.pending.answer(perform(entry.render))
        }
        family.leave()
    }

    /// Renders, and retries in a fresh process if needed. A used process may hold freed memory in fragments, and an
    /// earlier picture may have damaged it. So a refusal of memory and a library's abort count only from a fresh one.
    private func perform(_ render: PendingRender?) -> RenderQueue.Answer {
        guard let render else { return Result { () throws(RenderFailure) in try family.ready() }.map { [] } }
        let (answer, wasFresh) = attempt(render, isFresh: false)
        switch answer {
        case .failure(.outOfMemory) where !wasFresh, .failure(.aborted) where !wasFresh:
            return attempt(render, isFresh: true).answer
        default: return answer
        }
    }

    private func attempt(_ render: PendingRender, isFresh: Bool) -> (answer: RenderQueue.Answer, wasFresh: Bool) {
        var wasFresh = true
        do throws(RenderFailure) {
            let child = try family.take(for: render.origin, isFresh: isFresh)
            wasFresh = child.renders == 0
            let memory = render.request.memoryEstimate
            budget.take(memory)
            defer { budget.giveBack(memory) }
            do throws(RendererChild.Loss) {
                let answer = try child.render(render)
                family.giveBack(child)
                return (answer, wasFresh)
            } catch {
                let end = family.lose(child)
                switch error {
                case .deadline: throw .deadline(milliseconds: render.request.deadlineMilliseconds)
                case .died where end == .status(Int(RenderReply.memoryStatus)):
                    throw .outOfMemory(nil, reason: "the renderer ran out of memory")
                case .died where end == .aborted: throw .aborted(render.picture.facts.format)
                case .died where end == .status(Int(RenderReply.threadStatus)):
                    throw .crashed(reason: "it was refused a thread")
                case .died: throw .crashed(reason: end.description)
                case .misspoke(let what): throw .crashed(reason: what)
                case .memory(let spec, let reason): throw .outOfMemory(spec, reason: reason)
                // The source's header was read, so the outputs make inspectors crash.
                case .uninspected(.uninspected(let reason)): throw .crashed(reason: "its pictures: \(reason)")
                case .uninspected(let failure): throw failure
                }
            }
        } catch {
            return (.failure(error), wasFresh)
        }
    }
}
