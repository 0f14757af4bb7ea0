/// The topic that a job came by: fast work is somebody waiting, slow work is nobody yet.
package enum Lane: String, Sendable, Hashable, CaseIterable {
    case fast, slow
}
