import Canonical
import ImageModel
import Ports

extension FetchRequest {
    init(url: String, lane: Lane) { self.init(url: SourceURL(url), lane: lane) }
}
