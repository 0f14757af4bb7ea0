import Foundation
import TestSupport

/// Symbols and shared libraries of a built program, read from its ELF tables.
struct LinkedProgram {
    /// Every name in its symbol tables: names that it defines, and names that it needs from libraries.
    let symbols: [Substring]
    /// Shared libraries that it needs itself, such as `libc.so.6`; libraries that these need in turn are not listed.
    let libraries: Set<String>

    private struct Section {
        let type: Int
        let range: Range<Int>
        /// The section that has its names.
        let link: Int
    }

    struct Unreadable: Error {}

    /// - Parameter program: its name in the build.
    init(_ program: String) throws {
        let file = try Data(contentsOf: Built.program(program), options: .alwaysMapped)
        func number(at offset: Int, bytes: Int) throws -> Int {
            guard offset >= 0, offset <= file.count - bytes else { throw Unreadable() }
            let value = (0..<bytes).reduce(UInt64(0)) { $0 | UInt64(file[offset + $1]) << (8 * $1) }
            guard let number = Int(exactly: value) else { throw Unreadable() }
            return number
        }
        // 64 bits, little-endian: what the project is built for.
        guard file.prefix(6) == Data([0x7F, 0x45, 0x4C, 0x46, 2, 1]) else { throw Unreadable() }
        let (table, size) = (try number(at: 0x28, bytes: 8), try number(at: 0x3A, bytes: 2))
        let sections = try (0..<number(at: 0x3C, bytes: 2)).map { index in
            let header = table + index * size
            let begin = try number(at: header + 24, bytes: 8)
            return Section(
                type: try number(at: header + 4, bytes: 4),
                range: begin..<begin + (try number(at: header + 32, bytes: 8)),
                link: try number(at: header + 40, bytes: 4))
        }
        func names(of section: Section) throws -> Data {
            guard sections.indices.contains(section.link), sections[section.link].range.upperBound <= file.count else {
                throw Unreadable()
            }
            return file.subdata(in: sections[section.link].range)
        }
        let (symbolTable, dynamicSection, dynamicSymbols, neededTag) = (2, 6, 11, 1)
        symbols = try sections.filter { [symbolTable, dynamicSymbols].contains($0.type) }.flatMap { section in
            String(decoding: try names(of: section), as: UTF8.self).split(separator: "\0")
        }
        libraries = try sections.filter { $0.type == dynamicSection }.reduce(into: []) { libraries, section in
            let names = try names(of: section)
            for entry in stride(from: section.range.lowerBound, to: section.range.upperBound, by: 16) {
                guard try number(at: entry, bytes: 4) == neededTag else { continue }
                let name = names.dropFirst(try number(at: entry + 8, bytes: 8)).prefix { $0 != 0 }
                libraries.insert(String(decoding: name, as: UTF8.self))
            }
        }
    }

    /// Symbols whose mangled names contain a Swift module: `7Records`, but not `17RecordsAndTheRest`, a longer name.
    func symbols(of module: String) -> [Substring] {
        let word = "\(module.utf8.count)\(module)"
        return symbols.filter { name in
            guard let found = name.range(of: word) else { return false }
            return found.lowerBound == name.startIndex || !name[name.index(before: found.lowerBound)].isNumber
        }
    }
}
