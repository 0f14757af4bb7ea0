import Foundation
import Posix
import TestSupport
import Testing

@Suite("ProcessorQuota: cores that control groups allow", .timeLimit(.minutes(1)))
struct ProcessorQuotaTests {
    struct Machine: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let groups: String
        let files: [String: String]
        let cores: Int?

        init(_ name: String, _ groups: String, _ files: [String: String], _ cores: Int?) {
            (testDescription, self.groups, self.files, self.cores) = (name, groups, files, cores)
        }
    }

    static let machines = [
        Machine("version 2: a container's own root", "0::/\n", ["cpu.max": "200000 100000\n"], 2),
        Machine("half a core is one", "0::/\n", ["cpu.max": "50000 100000\n"], 1),
        Machine("one and a half are two", "0::/\n", ["cpu.max": "150000 100000\n"], 2),
        Machine("no limit", "0::/\n", ["cpu.max": "max 100000\n"], nil),
        Machine(
            "the least of a group and those above it", "0::/pods/a/worker\n",
            [
                "pods/cpu.max": "400000 100000\n", "pods/a/cpu.max": "300000 100000\n",
                "pods/a/worker/cpu.max": "max 100000\n",
            ],
            3),
        Machine(
            "version 1", "3:cpu,cpuacct:/worker\n0::/\n",
            ["cpu/worker/cpu.cfs_quota_us": "250000\n", "cpu/worker/cpu.cfs_period_us": "100000\n"], 3),
        Machine(
            "version 1 without a limit", "3:cpu:/\n",
            ["cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"], nil),
        Machine(
            "a container that sees its host's path", "3:cpu:/docker/4f\n",
            ["cpu/cpu.cfs_quota_us": "100000\n", "cpu/cpu.cfs_period_us": "50000\n"], 2),
        Machine("no controller", "0::/user.slice\n", [:], nil),
        Machine("no control groups", "", [:], nil),
        Machine("nonsense", "0::/\n:\nx\n", ["cpu.max": "-3 0 9\n"], nil),
    ]

    @Test("The quota of a group and of all above it, rounded up", arguments: machines)
    func cores(machine: Machine) throws {
        let root = try TemporaryFolder()
        func write(_ text: String, at path: String) throws {
            let file = root.url.appending(path: path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }
        try write(machine.groups, at: "proc/self/cgroup")
        for (path, text) in machine.files { try write(text, at: "sys/fs/cgroup/\(path)") }
        #expect(ProcessorQuota.cores(below: root.path) == machine.cores)
    }

    @Test("A process has at least one core, and no more than its affinity")
    func usable() { #expect((1...SystemFacts.cores).contains(SystemFacts.usableCores)) }
}
