internal import Canonical
import CommandLine
import HTTP
import JSONText
import LogChoice
import Settings
internal import VariantSpec

/// `mezzotint normalise`: the canonical form of URLs, rule by rule.
enum NormaliseCommand {
    static let command = Command(
        "normalise", abstract: "Show the canonical form of URLs, rule by rule.",
        examples: [
            "mezzotint normalise 'https://A.example:443/b.jpg?imageView&thumbnail=80x80'",
            "mezzotint normalise --json - < urls.txt",
        ],
        arguments: [Argument("url", help: "URLs, or - for one a line on standard input.", isRepeating: true)],
        options: [.json], run: run)

    private static func run(_ arguments: ParsedArguments) throws -> ExitCode {
        let rules = try Settings.loaded(arguments, inspect: ChosenLog.problems).settings.canonicalRules
        let show = arguments.flag("json") ? showJSON : showSteps
        var code = ExitCode.success
        func take(_ url: String) { if !show(url, rules) { code = .failure } }
        for url in arguments.positionals {
            guard url == "-" else {
                take(url)
                continue
            }
            var splitter = LineSplitter(limit: rules.urlByteLimit + 1)
            var lines: [LineSplitter.Line] = []
            while case let piece = try StandardInput.next(atMost: 1 << 16), !piece.isEmpty {
                lines += splitter.feed(piece[...])
            }
            if let last = splitter.finish() { lines.append(last) }
            for line in lines {
                // A line too long for the splitter is too long for any URL.
                let bytes =
                    if case .text(let bytes) = line { bytes } else {
                        Array(repeating: UInt8(ascii: "a"), count: rules.urlByteLimit + 1)
                    }
                if !bytes.isEmpty { take(String(decoding: bytes, as: UTF8.self)) }
            }
        }
        return code
    }

    private static func showJSON(_ url: String, _ rules: CanonicalRules) -> Bool {
        do throws(CanonicalFailure) {
            let source = try rules.source(of: url)
            Output.object { json in
                json.field("source", source.url)
                json.field("sourceKey", source.key.hex)
                json.field("variant", source.variant?.description)
            }
            return true
        } catch {
            Output.object { json in
                json.object("error") { json in
                    json.field("code", error.code)
                    json.field("message", error.description)
                }
            }
            return false
        }
    }

    private static func showSteps(_ url: String, _ rules: CanonicalRules) -> Bool {
        do throws(CanonicalFailure) {
            let (source, steps) = try rules.explain(url)
            var rows = steps.map {
                [$0.rule, "\($0.before.isEmpty ? "nothing" : $0.before) → \($0.after.isEmpty ? "nothing" : $0.after)"]
            }
            rows.append(["source", source.url])
            rows.append(["source key", source.key.hex])
            if let group = source.aliasGroup { rows.append(["alias group", group]) }
            rows.append(["fetched from", WireURL.encoded(source.fetchURL)])
            rows.append(["variant", source.variant?.description ?? "none: the URL only names a source"])
            Console.print(url)
            Console.write(TextTable.text(rows.map { ["  " + $0[0], $0[1]] }))
            return true
        } catch {
            Console.complain("\(error) (\(error.code))")
            return false
        }
    }
}
