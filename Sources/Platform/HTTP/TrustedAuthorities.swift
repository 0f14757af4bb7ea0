internal import CCurl
internal import Glibc
package import Posix

/// Certificate authorities for servers: the system's and additional PEM files, combined in one file in memory.
///
/// libcurl accepts one file of them (CURLOPT_CAINFO), in place of the system's bundle. It reads that file for each
/// connection, so it gets a path: a blob would be copied for each transfer.
package final class TrustedAuthorities: Sendable {
    private let file: OpenFile

    /// Reads all files now.
    package init(files: [String]) throws(SystemFailure) {
        file = try OpenFile(anonymous: "authorities")
        // If the system has only a folder of certificates, libcurl also looks there.
        if let bundle = curl_version_info(CURLVERSION_SEVENTH)?.pointee.cainfo {
            do throws(SystemFailure) { try append(String(cString: bundle)) } catch {
                guard error.isMissing else { throw error }
            }
        }
        for path in files { try append(path) }
    }

    package var path: String { "/proc/self/fd/\(file.descriptor)" }

    /// Appends a file. It follows links, because clusters mount files as links.
    private func append(_ path: String) throws(SystemFailure) {
        guard let source = fopen(path, "re") else { throw SystemFailure("open", on: path, code: errno) }
        defer { fclose(source) }
        var part = [UInt8](repeating: 0, count: 64 << 10)
        while case let count = fread(&part, 1, part.count, source), count > 0 {
            try write(part[..<count])
        }
        guard ferror(source) == 0 else { throw SystemFailure("read", on: path, code: errno) }
        // The last line of a file may lack a line end.
        try write([UInt8(ascii: "\n")])
    }

    private func write(_ bytes: ArraySlice<UInt8>) throws(SystemFailure) {
        try bytes.withUnsafeBufferPointer { bytes throws(SystemFailure) in
            try file.append(UnsafeRawBufferPointer(bytes))
        }
    }
}
