package import Ports
package import Settings
internal import Store

/// The store that the settings name: the one place that chooses.
package enum ChosenStore {
    package static func site(_ settings: Settings) -> any StoreSite {
        FileStoreSite(settings.store.files, in: settings.data)
    }
}
