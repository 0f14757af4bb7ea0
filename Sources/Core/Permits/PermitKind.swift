/// A permit's purpose: one fetch, or one render.
package enum PermitKind: Sendable, Hashable, CaseIterable {
    case fetch, render
}

/// One value for each kind of permit.
struct ByKind<Value: Sendable>: Sendable {
    private var fetch: Value
    private var render: Value

    init(fetch: Value, render: Value) { (self.fetch, self.render) = (fetch, render) }

    subscript(kind: PermitKind) -> Value {
        get { kind == .fetch ? fetch : render }
        set { if kind == .fetch { fetch = newValue } else { render = newValue } }
    }
}
