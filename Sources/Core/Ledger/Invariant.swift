internal import Synchronization

/// Switch for the modules' checks of their own state. They are on in debug builds, and in programs that ask for them,
/// such as the simulator.
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

/// Checks a rule of a module's state when an event enters the module. A violation ends the process, because the effects
/// of such a state may become durable.
package func invariant(_ holds: @autoclosure () -> Bool, _ rule: StaticString) {
    guard Invariants.areChecked, !holds() else { return }
    fatalError("A module's invariant does not hold: \(rule)")
}
