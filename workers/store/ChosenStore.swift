package import Ports
package import Settings
internal import Store

/// The store that the settings name. Only this type chooses.
package enum ChosenStore {
    package static func site(_ settings: Settings) -> any StoreSite {
        FileStoreSite(settings.store.files, in: settings.data)
    }
}
