internal import Canonical
internal import Digest
internal import Ports
internal import Posix
internal import Records
internal import Synchronization

/// The blobs that all workers share.
final class Shelf {
    var blobs: [String: [UInt8]] = [:]
    /// What the simulator removed or damaged: nobody answers for it.
    var destroyed: Set<String> = []
    var fullUntil: Int64 = 0
    var failsUntil: Int64 = 0
    var slowUntil: Int64 = 0
    /// Another store stands in its place, or nothing.
    var foreignUntil: Int64 = 0
    var isAway = false
}

/// The store port of one process.
final class SimulatedStore: BlobStore, @unchecked Sendable {
    private unowned(unsafe) let process: SimulatedProcess
    private var world: World { process.world }
    private var shelf: Shelf { process.world.shelf }

    init(_ process: SimulatedProcess) { self.process = process }

    func sight() async throws(StoreFailure) -> StoreSight {
        let failure = StoreFailure.unreadable(StorePlace("simulated"), reason: "input/output error")
        return try await process.ask(or: Result<StoreSight, StoreFailure>.failure(failure)) { done in
            world.after(time) { [self] in
                if shelf.failsUntil > world.now { return done(.failure(failure)) }
                done(
                    .success(
                        StoreSight(
                            place: StorePlace("simulated"), identity: seen,
                            isEmpty: absence == nil ? shelf.blobs.isEmpty : shelf.isAway)))
            }
        }.get()
    }

    func adopt() async throws(StoreFailure) -> StoreIdentity {
        // A partition that is bound to the other store never goes on.
        if let absence { throw absence }
        return Self.identity
    }

    var absence: StoreFailure? {
        shelf.foreignUntil > world.now
            ? .mismatched(StorePlace("simulated"), expected: Self.identity, found: seen) : nil
    }

    private var seen: StoreIdentity? {
        guard shelf.foreignUntil > world.now else { return Self.identity }
        return shelf.isAway ? nil : Self.other
    }

    private static let (identity, other) = (drawn(1), drawn(2))

    private static func drawn(_ seed: UInt64) -> StoreIdentity {
        var chance = Chance(seed: seed)
        return StoreIdentity(drawnFrom: &chance)
    }

    func put(_ blobs: [NewBlob]) async throws(StoreFailure) -> [StoredBlob] {
        let gone = Result<[StoredBlob], StoreFailure>.failure(.unwritable(StorePlace("simulated"), reason: "killed"))
        let put = blobs.map { ($0.name, content(of: $0.content)) }
        return try await process.ask(or: gone) { done in
            world.after(time) { [self] in
                // Each whole or not at all: a kill comes between two.
                let count = process.isDead ? world.chance.below(put.count + 1) : put.count
                if let absence {
                    world.count(.storeForeign)
                    return done(.failure(absence))
                }
                if shelf.fullUntil > world.now {
                    world.count(.storeFull)
                    return done(.failure(.full(StorePlace("simulated"))))
                }
                if shelf.failsUntil > world.now {
                    world.count(.storeFailing)
                    return done(.failure(.unwritable(StorePlace("simulated"), reason: "no such directory")))
                }
                done(.success(put.prefix(count).map { name, bytes in keep(bytes, name) }))
            }
        }.get()
    }

    private func keep(_ bytes: [UInt8], _ name: BlobName) -> StoredBlob {
        let location = "\(name.source)/\(name.version)/\(name.leaf)"
        world.note("put", Int64(bytes.count), text: location)
        // An original's name says its bytes.
        if shelf.blobs[location]?.isEmpty ?? true || (name.isOriginal && shelf.blobs[location] != bytes) {
            if !world.plants(.loseBlob) || !world.chance.isOne(in: 20) { shelf.blobs[location] = bytes }
            shelf.destroyed.remove(location)
        }
        let kept = shelf.blobs[location] ?? bytes
        return StoredBlob(
            location: location, bytes: kept.count, digest: SHA256.digest(of: kept), isAnothers: kept != bytes)
    }

    private var time: Int64 {
        world.chance.within(1_000...10_000) + (shelf.slowUntil > world.now ? world.chance.within(0...3_000_000) : 0)
    }

    func open(_ location: String) async throws(StoreFailure) -> OpenFile? { try await open(location) { _ in true } }

    func open(
        _ location: String, if isExpected: @escaping @Sendable (SHA256Digest) -> Bool
    ) async throws(StoreFailure) -> OpenFile? {
        try await process.ask(or: Result<OpenFile?, StoreFailure>.success(nil)) { done in
            world.after(time) { [self] in
                if let absence { return done(.failure(absence)) }
                if shelf.failsUntil > world.now {
                    world.count(.storeFailing)
                    return done(.failure(.unreadable(StorePlace(location), reason: "input/output error")))
                }
                guard let bytes = shelf.blobs[location], isExpected(SHA256.digest(of: bytes)) else {
                    world.count(.donorGone)
                    return done(.success(nil))
                }
                done(.success(file(of: bytes)))
            }
        }.get()
    }

    func isGone(_ location: String, bytes: Int) -> Bool? {
        if absence != nil { return true }
        if !process.isDead, let found = shelf.blobs[location], found.count != bytes { shelf.blobs[location] = nil }
        return shelf.blobs[location] == nil
    }

    func remove(_ location: String) async throws(StoreFailure) {
        if process.isDead { return }
        if let absence { throw absence }
        if shelf.blobs.removeValue(forKey: location) != nil { shelf.destroyed.insert(location) }
    }
}

/// A file that holds a text; the tests' machine has room for it.
///
/// Files are kept for a while, for all worlds: to make one and to close it are system calls.
func file(of bytes: [UInt8]) -> OpenFile {
    if let file = files.withLock({ $0[bytes] }) { return file }
    let file = newFile(of: bytes)
    files.withLock { files in
        if files.count >= filesKept { files.removeAll(keepingCapacity: true) }
        files[bytes] = file
    }
    return file
}

/// Most worlds make the same ones. Half of the files that the process may have are left to it.
private let filesKept = Int(min(OpenFileLimit.current / 2, 4_096))
private let files = Mutex<[[UInt8]: OpenFile]>([:])

private func newFile(of bytes: [UInt8]) -> OpenFile {
    guard let file = try? OpenFile(anonymous: "simulated"), (try? file.append(bytes)) != nil else {
        preconditionFailure("no file is left for a simulation: raise the limit of open files")
    }
    return file
}

func content(of slice: FileSlice) -> [UInt8] { (try? slice.bytes()) ?? [] }
