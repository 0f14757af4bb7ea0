/// A permit's purpose: one fetch, or one render.
package enum PermitKind: Sendable, Hashable, CaseIterable {
    case fetch, render
}
