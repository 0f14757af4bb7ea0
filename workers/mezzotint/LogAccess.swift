import CommandLine
import Glibc
import LogChoice
import Ports
import Posix
import Settings

/// Opens the log that the settings name, for one command.
enum LogAccess {
    /// For commands that only read: they also read a log on read-only media.
    static func reading(_ arguments: ParsedArguments, _ body: (any Log) async throws -> ExitCode) async throws
        -> ExitCode
    {
        let settings = try Settings.loaded(arguments, inspect: ChosenLog.problems).settings
        try require(settings, R_OK)
        return try await using(try await ChosenLog.reading(settings), body)
    }

    /// For commands that append to an existing log.
    static func changing(_ arguments: ParsedArguments, _ body: (any Log) async throws -> ExitCode) async throws
        -> ExitCode
    {
        let settings = try Settings.loaded(arguments, inspect: ChosenLog.problems).settings
        try require(settings, R_OK | W_OK)
        return try await writing(settings, body)
    }

    /// A missing log is an error, since a wrong directory is the usual reason.
    static func require(_ settings: Settings, _ rights: Int32) throws {
        guard let file = settings.embeddedLogFile else { return }
        let isEmpty = FileSystem.length(of: file) == 0
        guard isEmpty || access(file, rights) != 0 else { return }
        guard isEmpty || errno == ENOENT else {
            let reason = String(cString: strerror(errno))
            throw LogFailure.unreadable(path: settings.logDirectory, reason: reason, .access)
        }
        throw CommandFailure(
            "There is no log at \(settings.logDirectory). Publish a job or start mezzotint-worker first, or name another directory by --set data=DIR or --config FILE."
        )
    }

    /// Creates an embedded log if it does not exist.
    static func writing(_ settings: Settings, _ body: (any Log) async throws -> ExitCode) async throws -> ExitCode {
        try await using(try await ChosenLog.open(settings).log, body)
    }

    /// For commands that publish rows of partitions: a worker would change them meanwhile.
    static func requireNoWorker(_ settings: Settings) async throws {
        let view = try await ChosenLog.view(settings)
        let members = try await view.members()
        await view.close()
        guard let first = members.first else { return }
        let others = members.count > 1 ? " and \(members.count - 1) more run" : " runs"
        throw CommandFailure(
            "\(first.name)\(others). Stop all workers first, so that no row or index changes meanwhile; a killed worker counts until its session ends (kafka.timing.session)."
        )
    }

    static func using(_ log: any Log, _ body: (any Log) async throws -> ExitCode) async throws -> ExitCode {
        do {
            let code = try await body(log)
            await log.close()
            return code
        } catch {
            await log.close()
            throw error
        }
    }
}

/// A command's failure, in one sentence.
struct CommandFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
