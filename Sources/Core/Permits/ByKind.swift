internal import Ledger

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
