internal import SettingTypes
package import Store

/// Storing and reuse: each value's default, and its row in the table.
extension Settings {
    /// Storage of variants and originals, and their default freshness.
    package struct Store: Sendable, Equatable {
        package var files = FileStoreSettings()
        package var adopt = false
        package var maxAge = Duration.seconds(7 * 86_400)
        package var originalsLimit = 1 << 20
    }

    /// Derivation of variants from stored ones.
    package struct Reuse: Sendable, Equatable {
        package var enabled = true
        package var lossBudget = 4.0
        package var allowStale = false
    }

    static let storeKeys: [SettingKey] =
        FileStoreSettings.rows.map { $0.lifted(to: \.store.files) } + [
            SettingKey(
                "store.adopt", \.store.adopt, .flag,
                "Whether a worker accepts the current store although the log's rows belong to another one, or its folder is empty (store.mismatched). Set it for one start only: with it, several workers over different folders would go unnoticed."
            ),
            SettingKey(
                "store.maxAge", \.store.maxAge, .duration(.seconds(1) ... .seconds(3650 * 86_400)),
                "How long stored variants are fresh if their origin declares no time: at most origins.freshness.ceiling, and up to a tenth shorter. A source behind a temporary redirect (302, 303, 307) without a declared time is revalidated for each job, limited only by origins.freshness.floor."
            ),
            SettingKey(
                "store.originals.limit", \.store.originalsLimit, .size(0...4 << 30),
                "Maximum size of a source whose original is kept. Originals are the best donors for later variants. 0B keeps none."
            ),

            SettingKey(
                "reuse.enabled", \.reuse.enabled, .flag,
                "Whether new variants may be derived from stored variants instead of their source."),
            SettingKey(
                "reuse.lossBudget", \.reuse.lossBudget, .number(0...100),
                "Maximum mean loss of reuse, in SSIMULACRA2 points. Stored variants of drawings are reused only if nothing is resampled. A source counts as a drawing unless it is a JPEG or HEIC in whose decode the renderer looked for colour edges (coloured text, charts, screenshots) and found few."
            ),
            SettingKey(
                "reuse.allowStale", \.reuse.allowStale, .flag,
                "Whether stale variants complete jobs and are reused, at any age, including those chosen by other request headers (`Vary`)."
            ),
        ]
}
