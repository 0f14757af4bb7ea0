internal import Canonical
import CommandLine
internal import ImageModel
import Index
import JSONText
import Ledger
import LogChoice
import Ports
import Posix
internal import Records
import Settings
import StoreChoice

/// `mezzotint topics restore`: rows that a recreated `variants` or `parked` lacks and that workers' indexes hold.
extension TopicsCommand {
    static func restore(_ arguments: ParsedArguments) async throws -> ExitCode {
        let settings = try Settings.loaded(arguments, inspect: ChosenLog.problems).settings
        if let folder = arguments.values("index").first(where: { !Folder.isFolder($0) }) {
            throw CommandFailure("The folder \(folder) does not exist. Name a folder with index files after --index.")
        }
        let chosen = try await ChosenLog.open(settings)
        return try await LogAccess.using(chosen.log) { _ in try await restore(arguments, settings, chosen) }
    }

    private static func restore(
        _ arguments: ParsedArguments, _ settings: Settings, _ chosen: ChosenLog
    ) async throws -> ExitCode {
        try await LogAccess.requireNoWorker(settings)
        let store = try await ChosenStore.site(settings).open(hasRoom: { _ in true }).sight()
        let own = chosen.indexDirectory
        let named = arguments.values("index")
        var indexes: [PartitionID: [SavedIndex]] = [:]
        var notes: [PartitionID: [String]] = [:]
        let folders = named.isEmpty ? [own] : named
        for folder in folders.filter(Folder.isFolder) {
            // Indexes of several clusters may lie beside each other.
            let found = try SQLiteVariantIndexes.files(below: folder) {
                !$0.hasPrefix("kafka-") || own.hasSuffix("/\($0)")
            }
            for (path, partition) in found {
                do throws(IndexFailure) {
                    indexes[partition, default: []].append(try SavedIndex(path, of: partition))
                } catch { notes[partition, default: []].append("\(error) It is not used.") }
            }
        }
        if indexes.isEmpty, notes.isEmpty {
            Console.complain(
                "No index file was found below \(folders.joined(separator: " and ")). Name another folder after --index.")
        }
        var restored: [RestoredPartition] = []
        var parked: [PartitionID: RestoredParked] = [:]
        let writes = !arguments.flag("dry-run")
        for partition in chosen.log.partitions {
            var jobs = RestoredParked(partition)
            try await jobs.run(from: indexes[partition] ?? [], in: chosen.log, store: store, writes: writes)
            parked[partition] = jobs
            var one = RestoredPartition(
                partition: partition, log: chosen.log, store: store, allowsMissing: arguments.flag("allow-missing"),
                writes: writes, notes: (notes[partition] ?? []) + jobs.notes)
            try await one.run(from: indexes[partition] ?? [])
            // A partition that stays stopped needs its indexes again.
            if writes, one.isOpen { jobs.retire() }
            restored.append(one)
        }
        show(restored, parked, isDry: arguments.flag("dry-run"), json: arguments.flag("json"))
        return restored.allSatisfy(\.isOpen) ? .success : .failure
    }

    private static func show(
        _ restored: [RestoredPartition], _ parked: [PartitionID: RestoredParked], isDry: Bool, json: Bool
    ) {
        if json {
            Output.array(restored) { json, one in
                json.field("partition", Int(one.partition.number))
                json.field("index", one.index)
                json.field("rows", one.rows)
                json.field("parked", parked[one.partition]?.jobs ?? 0)
                json.field("missing", one.missing)
                json.key("isOpen")
                json.boolean(one.isOpen)
                json.field("message", one.notes.isEmpty ? nil : one.notes.joined(separator: " "))
            }
        } else {
            for one in restored where one.rows > 0 {
                Console.print(
                    "Partition \(one.partition): \(one.rows) rows of \(one.index ?? "") are \(isDry ? "to be " : "")published."
                )
            }
            for one in parked.values.sorted(by: { $0.partition < $1.partition }) where one.jobs > 0 {
                Console.print(
                    "Partition \(one.partition): \(one.jobs) parked jobs of \(one.index ?? "") are \(isDry ? "to be " : "")published."
                )
            }
            let rows = restored.reduce(0) { $0 + $1.rows }
            Console.print(
                "\(rows) rows \(isDry ? "would be" : "were") published in \(restored.count { $0.rows > 0 }) of \(restored.count) partitions."
            )
        }
        for one in restored { for note in one.notes { Console.complain("Partition \(one.partition): \(note)") } }
    }
}
