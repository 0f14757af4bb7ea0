internal import CYAML

extension YAMLNode {
    /// Parses one document without anchors, aliases and tags; collects problems and continues if it can.
    ///
    /// The only code that uses libyaml. It reads events rather than a document tree, which would follow aliases first.
    package static func parse(_ bytes: [UInt8]) -> (root: YAMLNode?, problems: [(line: Int, message: String)]) {
        var parser = yaml_parser_t()
        guard yaml_parser_initialize(&parser) != 0 else { return (nil, [(0, "not enough memory to read it.")]) }
        defer { yaml_parser_delete(&parser) }
        return bytes.withUnsafeBufferPointer { input in
            yaml_parser_set_input_string(&parser, input.baseAddress, input.count)
            var builder = Builder()
            while !builder.isDone {
                var event = yaml_event_t()
                guard yaml_parser_parse(&parser, &event) != 0 else {
                    let reason = parser.problem.map { String(cString: $0) } ?? "it is not YAML"
                    let context = parser.context.map { " " + String(cString: $0) } ?? ""
                    let advice = context.hasSuffix(" an alias") ? YAMLNode.aliasAdvice : ""
                    let line = Int(parser.problem_mark.line)
                    guard !YAMLNode.isIndentedByTab(line, of: input) else {
                        builder.note(line + 1, "this line is indented with a tab. YAML needs spaces.")
                        return (nil, builder.problems)
                    }
                    builder.note(line + 1, "this is not YAML: \(reason)\(context).\(advice)")
                    return (nil, builder.problems)
                }
                builder.take(event)
                yaml_event_delete(&event)
            }
            return (builder.root, builder.problems)
        }
    }

    private static func isIndentedByTab(_ line: Int, of text: UnsafeBufferPointer<UInt8>) -> Bool {
        let lines = text.split(separator: UInt8(ascii: "\n"), maxSplits: line + 1, omittingEmptySubsequences: false)
        let blanks = line < lines.count ? lines[line].prefix { $0 == 0x20 || $0 == 0x09 } : []
        return blanks.contains(0x09)
    }

    /// People write `[*.cdn.example]` for a list of hosts.
    package static let aliasAdvice = " Quote what begins with an asterisk: \"*.example.com\"."

    /// Combines events into nodes.
    private struct Builder {
        private enum Frame {
            case list([YAMLNode], line: Int)
            case map([Entry], line: Int, key: (text: String, line: Int)?)
        }

        private(set) var root: YAMLNode?
        private(set) var problems: [(line: Int, message: String)] = []
        private(set) var isDone = false
        private var frames: [Frame] = []
        private var documents = 0
        private static let deepest = 16

        mutating func note(_ line: Int, _ message: String) { problems.append((line, message)) }

        mutating func take(_ event: yaml_event_t) {
            let line = Int(event.start_mark.line) + 1
            switch event.type {
            case YAML_DOCUMENT_START_EVENT:
                documents += 1
                if documents == 2 { note(line, "a second document begins here; put everything in one.") }
            case YAML_ALIAS_EVENT:
                note(line, "aliases (*name) are not read; write the value out.")
                place(YAMLNode(.scalar(""), line: line))
            case YAML_SCALAR_EVENT:
                let scalar = event.data.scalar
                refuse(anchor: scalar.anchor, tag: scalar.tag, line)
                let text = String(
                    decoding: UnsafeBufferPointer(start: scalar.value, count: scalar.length), as: UTF8.self)
                let isNull = scalar.style == YAML_PLAIN_SCALAR_STYLE && ["null", "~"].contains(text)
                place(YAMLNode(.scalar(isNull ? "" : text), line: line))
            case YAML_SEQUENCE_START_EVENT:
                refuse(anchor: event.data.sequence_start.anchor, tag: event.data.sequence_start.tag, line)
                open(.list([], line: line), line)
            case YAML_MAPPING_START_EVENT:
                refuse(anchor: event.data.mapping_start.anchor, tag: event.data.mapping_start.tag, line)
                open(.map([], line: line, key: nil), line)
            case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT:
                switch frames.popLast() {
                case .list(let items, let line): place(YAMLNode(.list(items), line: line))
                case .map(let entries, let line, _): place(YAMLNode(.map(entries), line: line))
                case nil: break
                }
            case YAML_STREAM_END_EVENT: isDone = true
            default: break
            }
        }

        private mutating func refuse(
            anchor: UnsafeMutablePointer<UInt8>?, tag: UnsafeMutablePointer<UInt8>?, _ line: Int
        ) {
            if anchor != nil { note(line, "anchors (&name) are not read; write the value out where it is needed.") }
            if tag != nil { note(line, "tags (!name) are not read; leave them out.") }
        }

        private mutating func open(_ frame: Frame, _ line: Int) {
            frames.append(frame)
            guard frames.count > Self.deepest else { return }
            note(line, "this is nested deeper than any setting.")
            isDone = true
        }

        private mutating func place(_ node: YAMLNode) {
            switch frames.popLast() {
            case nil: if root == nil { root = node }
            case .list(let items, let line): frames.append(.list(items + [node], line: line))
            case .map(let entries, let line, let key?):
                if let first = entries.first(where: { $0.key == key.text }) {
                    note(key.line, "\(key.text): this key appears twice, first on line \(first.line); keep one.")
                }
                frames.append(.map(entries + [Entry(key: key.text, line: key.line, value: node)], line: line, key: nil))
            case .map(let entries, let line, nil):
                if case .scalar(let text) = node.content {
                    frames.append(.map(entries, line: line, key: (text, node.line)))
                } else {
                    note(node.line, "a key must be plain text.")
                    frames.append(.map(entries, line: line, key: ("?", node.line)))
                }
            }
        }
    }
}
