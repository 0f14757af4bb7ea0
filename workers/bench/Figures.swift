internal import CommandLine
internal import Foundation

/// Results of a benchmark: rows of named values, printed as a table for people or as a line of JSON each.
struct Figures {
    let bench: String
    private(set) var rows: [[(name: String, value: Value)]] = []

    enum Value {
        case text(String)
        case number(Double)
        case whole(Double)
    }

    init(_ bench: String) { self.bench = bench }

    mutating func add(_ row: KeyValuePairs<String, Value>) { rows.append(row.map { ($0.key, $0.value) }) }

    func print(asJSON: Bool) -> String { asJSON ? json : table }

    private var json: String {
        rows.map { row in
            let fields = row.map { "\"\($0.name)\":\($0.value.json)" }.joined(separator: ",")
            return "{\"bench\":\"\(bench)\",\(fields)}"
        }.joined(separator: "\n")
    }

    private var table: String {
        guard let first = rows.first else { return "\(bench): nothing was measured" }
        return String(TextTable.text(first.map(\.name), rows.map { $0.map(\.value.text) }).dropLast())
    }
}

extension Figures.Value {
    var text: String {
        switch self {
        case .text(let text): text
        case .number(let number): String(format: "%.2f", number)
        case .whole(let number): String(format: "%.0f", number)
        }
    }

    var json: String {
        if case .text(let text) = self { return "\"\(text)\"" }
        return text
    }
}
