import Foundation
import TestSupport

@testable internal import RenderProtocol

extension TemporaryFolder {
    /// A program in Python that plays a renderers' parent; its path. It adds a letter to the file `starts` as it starts.
    ///
    /// - Parameters:
    ///   - child: the program that plays each renderer, with its connection at descriptor 3.
    ///   - second: what the first parent does instead of its second fork, in Python.
    func parent(of child: String, second: String? = nil) throws -> String {
        try program(
            """
            #!/usr/bin/python3 -S
            import os, socket, struct, time
            def reply(kind, number):
                return b''.join(struct.pack('<HI', tag, len(value)) + value for tag, value in [
                    (1, struct.pack('<q', 1)), (17, kind), (19, struct.pack('<q', number))])
            worker = socket.socket(fileno=3)
            with open('\(file("starts"))', 'a') as starts:
                starts.write('x')
                starts.flush()
                isFirst = starts.tell() == 1
            worker.send(bytes(\(RenderReply.ready.message)))
            forks = 0
            while (asked := socket.recv_fds(worker, 4096, 8))[0]:
                message, files = asked[:2]
                if not files:
                    end = os.waitstatus_to_exitcode(os.waitpid(struct.unpack('<q', message[-8:])[0], 0)[1])
                    worker.send(reply(b'exited', end) if end >= 0 else reply(b'ended', -end))
                    continue
                forks += 1
                if \(second == nil ? "False" : "isFirst and forks > 1"):
                    \(second ?? "pass")
                    os.close(files[0])
                    continue
                pid = os.fork()
                if pid == 0:
                    os.dup2(files[0], 3)
                    os.execv('\(try program(child))', ['renderer'])
                os.close(files[0])
                worker.send(reply(b'forked', pid))
            """)
    }
}
