internal import Clocks
import CommandLine
import JSONText

/// Formats of listings for scripts, and of ages for people.
enum Output {
    /// Prints one array on one line, with an object for each element.
    static func array<Element>(_ elements: [Element], _ write: (inout JSONWriter, Element) -> Void) {
        var json = JSONWriter()
        json.beginArray()
        for element in elements { json.object { write(&$0, element) } }
        json.endArray()
        json.endLine()
        Console.write(String(decoding: json.bytes, as: UTF8.self))
    }

    /// Prints one object on one line.
    static func object(_ write: (inout JSONWriter) -> Void) {
        var json = JSONWriter()
        json.object(write)
        json.endLine()
        Console.write(String(decoding: json.bytes, as: UTF8.self))
    }

    /// Age such as `950 ms`, `12 s`, `3 min`, `5 h` or `8 d`, since a recorded time of any value.
    static func age(of time: WallTime, at now: WallTime) -> String { age(now - time) }

    static func age(_ age: Duration) -> String {
        let milliseconds = age.milliseconds
        return switch milliseconds {
        case ..<1000: "\(max(0, milliseconds)) ms"
        case ..<120_000: "\(milliseconds / 1000) s"
        case ..<7_200_000: "\(milliseconds / 60_000) min"
        case ..<172_800_000: "\(milliseconds / 3_600_000) h"
        default: "\(milliseconds / 86_400_000) d"
        }
    }
}

extension JSONWriter {
    mutating func field(_ name: StaticString, _ value: String?) {
        key(name)
        if let value { string(value) } else { null() }
    }

    mutating func field(_ name: StaticString, _ value: Int?) {
        key(name)
        if let value { integer(value) } else { null() }
    }
}
