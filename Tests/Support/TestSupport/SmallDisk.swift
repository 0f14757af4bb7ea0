internal import Foundation

/// Whether a test may mount a small disk of its own, to fill it.
package enum SmallDisk {
    package static let canBeMounted: Bool = {
        let probe = Process()
        probe.executableURL = URL(filePath: "/usr/bin/unshare")
        probe.arguments = ["-m", "/bin/sh", "-c", "mount -t tmpfs none /mnt"]
        probe.standardError = FileHandle.nullDevice
        guard (try? probe.run()) != nil else { return false }
        probe.waitUntilExit()
        return probe.terminationStatus == 0
    }()
}
