/// A worker's request to a parent of renderers; the new renderer's end of its connection is attached to `fork`.
package enum ParentRequest: Sendable, Hashable {
    case fork
    /// Sent after a renderer was killed; the reply comes when it has ended.
    case reap(Int32)

    package var message: [UInt8] {
        var fields = FieldWriter()
        fields.add(Wire.Tag.version, Wire.version)
        if case .reap(let pid) = self { fields.add(Wire.Tag.index, Int(pid)) }
        return fields.bytes
    }

    /// Decodes a request; nil if it is no message of this version.
    package init?(message: [UInt8]) {
        guard let fields = Fields(message[...]), fields.int(Wire.Tag.version) == Wire.version else { return nil }
        self = fields.int(Wire.Tag.index, in: 1...Int(Int32.max)).map { .reap(Int32($0)) } ?? .fork
    }
}

/// A reply of a parent of renderers.
package enum ParentReply: Sendable, Hashable {
    case forked(Int32)
    case ended(signal: Int)
    case exited(status: Int)
    /// The request failed, with the kernel's error code.
    case failed(Int)

    package var message: [UInt8] {
        var fields = FieldWriter()
        fields.add(Wire.Tag.version, Wire.version)
        let (kind, number) =
            switch self {
            case .forked(let pid): ("forked", Int(pid))
            case .ended(let signal): ("ended", signal)
            case .exited(let status): ("exited", status)
            case .failed(let code): ("failed", code)
            }
        fields.add(Wire.Tag.kind, kind)
        fields.add(Wire.Tag.index, number)
        return fields.bytes
    }

    /// Decodes a reply; nil if it is no message of this version.
    package init?(message: [UInt8]) {
        guard let fields = Fields(message[...]), fields.int(Wire.Tag.version) == Wire.version,
            let number = fields.int(Wire.Tag.index, in: 0...Int(Int32.max))
        else { return nil }
        switch fields.text(Wire.Tag.kind) {
        case "forked": self = .forked(Int32(number))
        case "ended": self = .ended(signal: number)
        case "exited": self = .exited(status: number)
        case "failed": self = .failed(number)
        default: return nil
        }
    }
}
