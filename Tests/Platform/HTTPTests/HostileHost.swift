import Foundation
import TestSupport

/// `hostile.py` at work: a host over TLS that sends one kind of thing for ever. Ends with the value.
final class HostileHost {
    enum Kind: String, CaseIterable {
        case emptyData = "empty-data"
        case windowUpdates = "window-updates"
        case pings, settings, continuations, tickets
    }

    static let python = "/usr/bin/python3"
    static let certificate = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "hostile.pem").path

    private let process = Process()
    let url: String

    init(_ kind: Kind) throws {
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "hostile.py").path
        process.executableURL = URL(filePath: Self.python)
        process.arguments = [script, kind.rawValue, Self.certificate]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let port = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        url = "https://127.0.0.1:\(port.trimmingCharacters(in: .newlines))/"
    }

    // Foundation hands on a mask that blocks what `terminate` sends.
    deinit { kill(process.processIdentifier, SIGKILL) }
}
