internal import CPosix
internal import Glibc

/// Threads of ours, for blocking calls: the cooperative pool must not block.
package enum OwnThread {
    /// Runs `body` on a new detached thread; `name` (15 bytes at most) shows in /proc and debuggers.
    package static func start(_ name: String, _ body: @escaping @Sendable () -> Void) {
        let box = Unmanaged.passRetained(Body(name: name, run: body))
        var thread = pthread_t()
        // Allocated, because other imports change which module owns the struct's initialiser.
        let attributes = UnsafeMutablePointer<pthread_attr_t>.allocate(capacity: 1)
        defer { attributes.deallocate() }
        pthread_attr_init(attributes)
        pthread_attr_setdetachstate(attributes, Int32(PTHREAD_CREATE_DETACHED))
        let code = pthread_create(
            &thread, attributes,
            { opaque in
                let body = Unmanaged<Body>.fromOpaque(opaque!).takeRetainedValue()
                mz_name_thread(body.name)
                body.run()
                return nil
            }, box.toOpaque())
        pthread_attr_destroy(attributes)
        precondition(code == 0, "the system has no thread left for \(name): error \(code)")
    }

    private final class Body: Sendable {
        let name: String
        let run: @Sendable () -> Void
        init(name: String, run: @escaping @Sendable () -> Void) { (self.name, self.run) = (name, run) }
    }
}
