import Foundation
import WebServer

extension Gallery {
    /// Serves the pictures on 127.0.0.1, under names that stay the same in every run.
    func serve() throws -> WebServer {
        let paths = Dictionary(uniqueKeysWithValues: names.map { ("/" + $0, folder.appending(path: $0).path) })
        return try WebServer { request in
            guard let path = paths[request.path] else { return .notFound }
            return WebServer.Response(.file(path: path))
        }
    }

    /// URL of a picture; each copy has a URL of its own, and so is another source.
    func url(of name: String, copy: Int, at origin: WebServer) -> String {
        let escaped = name.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? name
        return origin.address + "/" + escaped + (copy == 0 ? "" : "?copy=\(copy)")
    }
}
