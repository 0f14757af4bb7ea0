/// Looks again until it is so: for what only the broker knows, and tells nobody. The test's time limit ends it.
package func eventually(isolation: isolated (any Actor)? = #isolation, _ isSo: () async throws -> Bool) async throws {
    while try await !isSo() { try await Task.sleep(for: .milliseconds(50)) }
}
