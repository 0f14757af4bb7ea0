import Telemetry

/// What a page in Prometheus's text format 0.0.4 says, read by the letter: whatever the format does not allow is thrown.
struct Exposition {
    struct Family {
        let type: String
        let help: String
        /// By labels, as `name="value"` sorted and joined.
        var samples: [String: Double] = [:]
    }

    struct Violation: Error, CustomStringConvertible {
        let description: String
    }

    private(set) var families: [String: Family] = [:]

    init(_ text: String) throws {
        guard text.hasSuffix("\n") else { throw Violation(description: "the last line does not end") }
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            .filter { !$0.hasPrefix(LastLine.prefix) }[...]
        while let line = lines.popFirst() {
            let (name, help) = try Self.comment(line, "HELP")
            guard let next = lines.popFirst() else { throw Violation(description: "\(name) has no TYPE") }
            let (typed, type) = try Self.comment(next, "TYPE")
            guard typed == name, families[name] == nil else {
                throw Violation(description: "\(name) stands there twice, or apart")
            }
            guard ["counter", "gauge", "histogram"].contains(type) else {
                throw Violation(description: "\(name) is a '\(type)'")
            }
            guard (type == "counter") == name.hasSuffix("_total") else {
                throw Violation(description: "\(name) is a \(type)")
            }
            try Self.check(escapes: help, allowed: "\\n")
            var family = Family(type: type, help: help)
            while let line = lines.first, !line.hasPrefix("#") {
                let part = type == "histogram" ? try Self.part(line, of: name) : ""
                let (labels, value) = try Self.sample(line, of: name + part)
                if type == "counter", !(value >= 0) { throw Violation(description: "a counter below nought: \(line)") }
                guard family.samples.updateValue(value, forKey: part.isEmpty ? labels : part + labels) == nil else {
                    throw Violation(description: "said twice: \(line)")
                }
                lines.removeFirst()
            }
            if type == "histogram" { try Self.check(histogram: family, name) }
            families[name] = family
        }
    }

    /// Which of the three lines of a histogram it is; samples have it before their labels.
    private static func part(_ line: Substring, of name: String) throws -> String {
        for part in ["_bucket", "_sum", "_count"] where line.hasPrefix(name + part) { return part }
        throw Violation(description: "no line of a histogram: \(line)")
    }

    /// Buckets hold those below them too, and the last one all.
    private static func check(histogram family: Family, _ name: String) throws {
        var buckets: [String: [(bound: Double, count: Double)]] = [:]
        for (labels, count) in family.samples where labels.hasPrefix("_bucket") {
            var others = labels.dropFirst("_bucket".count).split(separator: ",")
            guard let place = others.firstIndex(where: { $0.hasPrefix("le=\"") }),
                let bound = number(others.remove(at: place).dropFirst(4).dropLast())
            else { throw Violation(description: "\(name) has a bucket without a bound") }
            buckets[others.joined(separator: ","), default: []].append((bound, count))
        }
        for (labels, found) in buckets {
            let sorted = found.sorted { $0.bound < $1.bound }
            guard zip(sorted, sorted.dropFirst()).allSatisfy({ $0.count <= $1.count }), sorted.last?.bound == .infinity,
                sorted.last?.count == family.samples["_count" + labels], family.samples["_sum" + labels] != nil
            else { throw Violation(description: "\(name){\(labels)} is no histogram: \(sorted)") }
        }
    }

    /// The value of the sample with just these labels.
    func value(_ name: String, _ labels: String...) throws -> Double {
        guard let value = families[name]?.samples[labels.sorted().joined(separator: ",")] else {
            throw Violation(description: "\(name) with \(labels) is not there")
        }
        return value
    }

    /// All samples of a family together.
    func sum(_ name: String) throws -> Double {
        guard let family = families[name] else { throw Violation(description: "\(name) is not there") }
        return family.samples.values.reduce(0, +)
    }

    private static func comment(_ line: Substring, _ word: String) throws -> (name: String, rest: String) {
        let words = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
        guard words.count == 4, words[0] == "#", words[1] == word, isName(words[2], colons: true), !words[3].isEmpty
        else {
            throw Violation(description: "no \(word): \(line)")
        }
        return (String(words[2]), String(words[3]))
    }

    private static func sample(_ line: Substring, of name: String) throws -> (labels: String, value: Double) {
        func violation(_ what: String) -> Violation { Violation(description: "\(what): \(line)") }
        guard line.hasPrefix(name) else { throw violation("a sample of another family") }
        var rest = line.dropFirst(name.count)
        var labels: [String] = []
        if rest.first == "{" {
            repeat {
                rest.removeFirst()
                let label = rest.prefix { $0 != "=" }
                guard isName(label, colons: false), rest.dropFirst(label.count).hasPrefix("=\"") else {
                    throw violation("no label")
                }
                rest = rest.dropFirst(label.count + 2)
                let value = try quoted(&rest)
                guard !labels.contains(where: { $0.hasPrefix("\(label)=") }) else { throw violation("a label twice") }
                labels.append("\(label)=\"\(value)\"")
            } while rest.first == ","
            guard rest.popFirst() == "}" else { throw violation("the labels do not end") }
        }
        guard rest.popFirst() == " ", let value = number(rest) else { throw violation("no number") }
        return (labels.sorted().joined(separator: ","), value)
    }

    /// Up to the closing quote, which is taken too.
    private static func quoted(_ rest: inout Substring) throws -> String {
        var value = ""
        while let character = rest.popFirst(), character != "\"" {
            guard character == "\\" else {
                value.append(character)
                continue
            }
            switch rest.popFirst() {
            case "\\": value.append("\\")
            case "\"": value.append("\"")
            case "n": value.append("\n")
            default: throw Violation(description: "an escape that there is not")
            }
        }
        return value
    }

    private static func check(escapes text: String, allowed: String) throws {
        var rest = text[...]
        while let character = rest.popFirst() {
            if character == "\\", !allowed.contains(rest.popFirst() ?? " ") {
                throw Violation(description: "an escape that there is not: \(text)")
            }
        }
    }

    private static func isName(_ text: Substring, colons: Bool) -> Bool {
        guard let first = text.utf8.first, !(48...57).contains(first) else { return false }
        return text.utf8.allSatisfy {
            (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0) || $0 == 95
                || (colons && $0 == 58)
        }
    }

    /// As Go's ParseFloat reads it, less what we would never write: hexadecimal and underscores.
    private static func number(_ text: Substring) -> Double? {
        if ["NaN", "+Inf", "-Inf"].contains(text) {
            return text == "NaN" ? .nan : text == "+Inf" ? .infinity : -.infinity
        }
        guard text.utf8.allSatisfy({ (48...57).contains($0) || "+-.eE".utf8.contains($0) }) else { return nil }
        return Double(text)
    }
}
