import Foundation
import WebServer

/// The demo's origin: a gallery on 127.0.0.1, under names that do not change from run to run.
final class LocalOrigin: Sendable {
    private let server: WebServer

    init(_ gallery: Gallery) throws {
        let paths = Dictionary(
            uniqueKeysWithValues: gallery.names.map { ("/" + $0, gallery.folder.appending(path: $0).path) })
        server = try WebServer { request in
            guard let path = paths[request.path] else { return .notFound }
            return WebServer.Response(.file(path: path))
        }
    }

    var requestCount: Int { server.requestCount }

    /// A copy has a URL of its own, and so is another source.
    func url(of name: String, copy: Int) -> String {
        let escaped = name.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? name
        return server.address + "/" + escaped + (copy == 0 ? "" : "?copy=\(copy)")
    }

    func stop() { server.stop() }
}
