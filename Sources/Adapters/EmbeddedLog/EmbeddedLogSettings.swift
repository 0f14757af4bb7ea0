package import SettingTypes

/// Settings of the embedded log: partitions, retention and disk space.
package struct EmbeddedLogSettings: Sendable, Equatable {
    package var partitions = 8
    package var outcomesKept = 100_000
    package var byteLimit = 64 << 30
    package var reserve = 64 << 20

    package init() {}

    package static let rows: [SettingRow<EmbeddedLogSettings>] = [
        SettingRow(
            "log.partitions", \.partitions, .whole(1...256),
            "Partitions of every topic of the embedded log. Fixed when the log is created."),
        SettingRow(
            "log.outcomesKept", \.outcomesKept, .whole(0...100_000_000),
            "Number of outcomes that the embedded log keeps for readers."),
        SettingRow(
            "log.byteLimit", \.byteLimit, .size(1 << 20...1 << 44),
            "Size of the embedded log's file, less log.reserve, at which publishers are refused (log.full) until the worker frees space. Outcomes, rows and dead letters count, too. The worker itself may exceed it."
        ),
        SettingRow(
            "log.reserve", \.reserve, .size(0...64 << 30),
            "Disk space that publishers leave to the worker for outcomes, rows, retries and dead letters, plus 6 KiB for each pending job. With less free space, they are refused (log.full). The file reserve, beside the log, allocates log.reserve again. If the disk fills up anyway, the worker empties that file. With less than a quarter of log.reserve left, it takes no more jobs (log.full) until half is free. It fills the file again later. 0B: none."
        ),
    ]
}
