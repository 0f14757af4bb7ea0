internal import CPosix
internal import Glibc

/// Facts about the machine and the process.
package enum SystemFacts {
    /// Cores that this process may run on, at least one.
    package static var cores: Int { max(1, Int(mz_cores())) }

    /// Cores that this process may keep busy, at least one: those it may run on, limited by its control groups' quota.
    package static var usableCores: Int { min(cores, max(1, ProcessorQuota.cores() ?? cores)) }

    /// The machine's name; empty if it has none.
    package static var hostName: String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { name in
            name.initialize(repeating: 0)
            return gethostname(name.baseAddress!, 255) == 0 ? String(cString: name.baseAddress!) : ""
        }
    }

    /// The folder of the running program's file.
    package static var programFolder: String {
        let path = withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { path in
            let length = readlink("/proc/self/exe", path.baseAddress!, path.count)
            return length > 0 ? String(decoding: path[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self) : CommandLine.arguments[0]
        }
        return path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    }
}
