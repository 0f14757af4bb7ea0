import Foundation
import TestSupport
import Testing

@Suite("mezzotint doctor: tries everything that a worker needs here", .timeLimit(.minutes(1)))
struct DoctorCommandTests {
    private let folder: TemporaryFolder
    init() throws { folder = try TemporaryFolder() }

    private struct Finding: Decodable {
        let check: String
        let ok: Bool
        let required: Bool
        let message: String
    }

    private func findings(_ words: [String]) throws -> (status: Int32, findings: [String: Finding]) {
        let ended = try Built.run("mezzotint", ["doctor", "--json"] + words)
        let list = try JSONDecoder().decode([Finding].self, from: Data(ended.output.utf8))
        return (ended.status, Dictionary(uniqueKeysWithValues: list.map { ($0.check, $0) }))
    }

    @Test("All is right here: each forbidden act of a child is blocked, and libraries report their versions")
    func well() throws {
        let (status, findings) = try findings(["--set", "data=\(folder.path)"])
        #expect(status == 0, "\(findings.values.filter { !$0.ok })")
        for act in ["open", "exec", "socket", "signal", "share", "memory"] {
            #expect(findings["sandbox, \(act)"]?.message.hasPrefix("blocked, as it should be") == true)
        }
        for library in ["libvips 8", "libjpeg-turbo 2", "libwebp 1", "LittleCMS 2"] {
            #expect(findings["renderer"]?.message.contains(library) == true)
        }
        #expect(findings["version"]?.message == "0.2.0")
        // Each is tried, and none has to be there.
        for layer in [
            "user namespace", "network namespace", "process namespace", "mount namespace, empty root", "Landlock",
            "no capabilities",
        ] {
            let told = try #require(findings["sandbox, \(layer)"], "\(layer)")
            #expect(!told.required && (told.ok || told.message.hasPrefix("Not here (")))
        }
        #expect(findings["sandbox, open"]?.required == true)
        #expect(findings["data directory"]?.message.contains("is writable") == true)
        #expect(findings["log"]?.message.contains("will be made") == true)
    }

    /// The namespace of a user who may make no more of them, as containers have it.
    private static func withoutNamespaces(_ words: String) throws -> Ended {
        let script = "echo 0 >/proc/sys/user/max_user_namespaces && exec \(words)"
        return try Built.run("/usr/bin/unshare", ["-U", "-r", "/bin/sh", "-c", script])
    }

    @Test(
        "Where threads cannot be limited, doctor names the effect and the next step",
        .enabled(if: (try? withoutNamespaces("true").status) == 0, "needs the right to forbid user namespaces"))
    func threads() throws {
        let ended = try Self.withoutNamespaces(
            "\(Built.program("mezzotint").path) doctor --json --set data=\(folder.path)")
        #expect(ended.output.contains("as many threads as its user may. Allow user namespaces"), "\(ended.output)")
    }

    @Test("A renderer is asked under the limit that the worker gives to its renderers")
    func limit() throws {
        let asked = folder.file("asked")
        let real = Built.program("mezzotint-renderer").path
        let program = try folder.program("#!/bin/sh\necho \"$@\" >>'\(asked)'\nexec '\(real)' \"$@\"")
        #expect(try findings(["--set", "data=\(folder.path)", "--set", "render.program=\(program)"]).status == 0)
        let lines = try String(contentsOfFile: asked, encoding: .utf8).split(separator: "\n")
        #expect(lines.contains("check memory --data-limit \(512 << 20)"), "\(lines)")
    }

    @Test(
        "A renderer that is missing or is none is named, and nothing is said of its sandbox",
        arguments: ["/nowhere/r", "/bin/true"])
    func missing(program: String) throws {
        let (status, findings) = try findings(["--set", "data=\(folder.path)", "--set", "render.program=\(program)"])
        #expect(status == 1)
        #expect(findings["renderer"]?.ok == false)
        #expect(findings["renderer"]?.message.contains(program) == true)
        #expect(findings["sandbox, open"] == nil)
    }

    @Test(
        "A kernel without a filter for system calls is told once, and is bad unless render.sandbox is optional",
        .enabled(if: Python.isHere, Comment(rawValue: Python.absent)), arguments: ["required", "optional"])
    func unfiltered(sandbox: String) throws {
        let program = try folder.programWithoutFilters(Built.program("mezzotint-renderer").path)
        let (status, findings) = try findings([
            "--set", "data=\(folder.path)", "--set", "render.program=\(program)", "--set", "render.sandbox=\(sandbox)",
        ])
        #expect(status == (sandbox == "optional" ? 0 : 1))
        #expect(findings["renderer"]?.ok == true)
        let told = try #require(findings["sandbox"])
        #expect(told.ok == (sandbox == "optional"))
        #expect(told.message.hasPrefix("This kernel accepts no filter for system calls (filter system calls: "))
        #expect(told.message.contains(sandbox == "optional" ? "run without it" : "set render.sandbox to optional"))
        #expect(!findings.values.contains { $0.check.hasPrefix("sandbox,") && $0.required })
    }

    @Test(
        "The worker reports it at its start too, and continues only as render.sandbox allows",
        .enabled(if: Python.isHere, Comment(rawValue: Python.absent)))
    func worker() throws {
        let program = try folder.programWithoutFilters(Built.program("mezzotint-renderer").path)
        func run(_ sandbox: String, _ renderer: String) throws -> Ended {
            try Built.run(
                "mezzotint-worker",
                [
                    "--until-idle", "--set", "data=\(folder.path)/\(sandbox)", "--set", "render.program=\(renderer)",
                    "--set",
                    "render.sandbox=\(sandbox)",
                ])
        }
        let strict = try run("required", program)
        #expect(strict.status == 1)
        #expect(
            strict.errors.split(separator: "\n").last?.contains(
                "no filter for system calls (filter system calls: ") == true)
        let lenient = try run("optional", program)
        #expect(lenient.status == 0)
        #expect(lenient.errors.contains("renderers run without it, as render.sandbox allows"))
        #expect(lenient.errors.contains("\"level\":\"warning\""), "\(lenient.errors)")
        let well = try run("optional", Built.program("mezzotint-renderer").path)
        #expect(well.status == 0 && !well.errors.contains("filter"))
    }

    @Test(
        "A folder that is not writable is named by its whole path",
        .enabled(if: geteuid() == 0, "needs root, to give up its right to write everywhere"))
    func unwritable() throws {
        try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: folder.path)
        let words = ["--bounding-set=-all", "--inh-caps=-all", Built.program("mezzotint").path]
        let ended = try Built.run("/usr/bin/setpriv", words + ["doctor", "--set", "data=data"], in: folder.url)
        let whole = folder.url.resolvingSymlinksInPath().path
        #expect(ended.output.contains("\(whole) is not writable."), "\(ended.output)\(ended.errors)")
    }

    @Test("A file in a directory's place, and watermarks that are not there, are named")
    func places() throws {
        let file = folder.file("afile")
        try Data("x".utf8).write(to: URL(filePath: file))
        let (status, findings) = try findings(["--set", "data=\(file)", "--set", "render.watermarks=\(file)s"])
        #expect(status == 1)
        for check in ["data directory", "store directory", "log", "watermarks"] {
            #expect(findings[check]?.ok == false && findings[check]?.message.contains(file) == true, "\(check)")
        }
    }
}
