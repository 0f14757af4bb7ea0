/// The processor time that control groups allow this process, counted in cores.
///
/// A container limited to two CPUs of a machine with 64 may run on each of the 64 by affinity. With 64 busy processes
/// it is throttled for most of every period.
package enum ProcessorQuota {
    /// The smallest quota of the process's group and of its parent groups, rounded up; nil if there is none.
    ///
    /// - Parameter root: the folder that holds `proc/self/cgroup` and `sys/fs/cgroup`.
    package static func cores(below root: String = "") -> Int? {
        let quotas = (text("\(root)/proc/self/cgroup") ?? "").split(separator: "\n").flatMap { line in
            // hierarchy:controllers:path
            let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3 else { return [Double?]() }
            let controllers = fields[1].split(separator: ",")
            if controllers.isEmpty {
                return groups(of: fields[2]).map { quota(max: text("\(root)/sys/fs/cgroup\($0)/cpu.max")) }
            }
            guard controllers.contains("cpu") else { return [] }
            return groups(of: fields[2]).map { group in
                let folder = "\(root)/sys/fs/cgroup/cpu\(group)"
                return quota(text("\(folder)/cpu.cfs_quota_us"), per: text("\(folder)/cpu.cfs_period_us"))
            }
        }
        return quotas.compactMap { $0 }.min().map { Int($0.rounded(.up)) }
    }

    /// Quota in version 2: `200000 100000`, or `max 100000` for no quota.
    private static func quota(max line: String?) -> Double? {
        let fields = (line ?? "").split { $0.isWhitespace }.map(String.init)
        return fields.count == 2 ? quota(fields[0], per: fields[1]) : nil
    }

    /// Quota in version 1, from two files; -1 means no quota.
    private static func quota(_ time: String?, per period: String?) -> Double? {
        func number(_ text: String?) -> Double? {
            text.flatMap { $0.split { $0.isWhitespace }.first }.flatMap { Double($0) }
        }
        guard let time = number(time), let period = number(period), time > 0, period > 0, time / period < 1e6 else {
            return nil
        }
        return time / period
    }

    /// A group's path and its parents'. A container may see its host's path: then its own group is the root.
    private static func groups(of path: Substring) -> [String] {
        var names = path.split(separator: "/")
        var groups = [""]
        while !names.isEmpty {
            groups.append("/" + names.joined(separator: "/"))
            names.removeLast()
        }
        return groups
    }

    private static func text(_ path: String) -> String? {
        guard let file = try? OpenFile(reading: path), let bytes = try? file.bytes(at: 0, count: 4_096) else {
            return nil
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
