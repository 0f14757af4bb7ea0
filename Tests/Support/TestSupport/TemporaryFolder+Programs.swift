import Foundation

extension TemporaryFolder {
    /// A program of these lines, to be started in another's place; its path.
    package func program(_ lines: String) throws -> String {
        let path = file("program-\(UUID().uuidString)")
        // Written by another process: a descriptor of ours, inherited by a child that another test starts at this very
        // moment, would make the program busy.
        let writer = Process()
        writer.executableURL = URL(filePath: "/bin/sh")
        writer.arguments = ["-c", #"printf '%s\n' "$1" > "$0" && chmod 755 "$0""#, path, lines]
        try writer.run()
        writer.waitUntilExit()
        return path
    }

    /// A program that starts another where no filter for system calls can be had: to whatever asks for one, the kernel
    /// answers as one that was built without.
    ///
    /// Needs `/usr/bin/python3`.
    package func programWithoutFilters(_ path: String) throws -> String {
        try program(
            #"""
            #!/usr/bin/python3 -S
            import ctypes, os, platform, struct, sys
            seccomp, prctl = {"x86_64": (317, 157), "aarch64": (277, 167)}[platform.machine()]
            refuse, allow = 0x50000, 0x7fff0000
            rules = [
                (0x20, 0, 0, 0),            # the call's number
                (0x15, 0, 1, seccomp), (0x06, 0, 0, refuse | 38),
                (0x15, 0, 3, prctl), (0x20, 0, 0, 16), (0x15, 0, 1, 22), (0x06, 0, 0, refuse | 22),
                (0x06, 0, 0, allow),
            ]
            class Program(ctypes.Structure):
                _fields_ = [("count", ctypes.c_ushort), ("rules", ctypes.c_char_p)]
            libc = ctypes.CDLL(None)
            program = Program(len(rules), b"".join(struct.pack("HBBI", *rule) for rule in rules))
            if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.byref(program), 0, 0):
                sys.exit(99)
            os.execv("\#(path)", ["\#(path)"] + sys.argv[1:])
            """#)
    }
}

/// What the tests that write programs in Python need.
package enum Python {
    package static let isHere = FileManager.default.isExecutableFile(atPath: "/usr/bin/python3")
    package static let absent = "needs /usr/bin/python3"
}
