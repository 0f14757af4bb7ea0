internal import Synchronization

/// Whether modules check what must hold of their state: in debug builds, and where a program asks for it, as the simulator does.
package enum Invariants {
    private static let isOn: Atomic<Bool> = {
        #if DEBUG
            Atomic(true)
        #else
            Atomic(false)
        #endif
    }()

    package static var areChecked: Bool { isOn.load(ordering: .relaxed) }

    package static func check() { isOn.store(true, ordering: .relaxed) }
}

/// A rule of a module's state, looked at where events come into the module: the process ends where it does not hold, since what
/// follows from such a state may be durable.
package func invariant(_ holds: @autoclosure () -> Bool, _ rule: StaticString) {
    guard Invariants.areChecked, !holds() else { return }
    fatalError("A module contradicts itself: \(rule)")
}
