/// The reason why bytes are not the expected JSON. Offsets are bytes from the start of the text.
package enum JSONFailure: Error, Sendable, Hashable {
    /// Invalid JSON (RFC 8259), invalid UTF-8, or too deep nesting.
    case syntax(String, at: Int)
    /// JSON of another type than the field expects; the field is empty for the outermost value.
    case wrongType(field: String, expected: String, found: String, at: Int)
    case unknownField(String, at: Int)
    case duplicateField(String, at: Int)
    case missingField(String)
}

extension JSONFailure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .syntax(let what, let at): "\(what) at byte \(at)"
        case .wrongType("", let expected, let found, let at): "expected \(expected), found \(found) at byte \(at)"
        case .wrongType(let field, let expected, let found, let at):
            "\"\(field)\": expected \(expected), found \(found) at byte \(at)"
        case .unknownField(let name, let at): "there is no field \"\(name)\" (byte \(at))"
        case .duplicateField(let name, let at): "the field \"\(name)\" is given twice (byte \(at))"
        case .missingField(let name): "the field \"\(name)\" is missing"
        }
    }
}
