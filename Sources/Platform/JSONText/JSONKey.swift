internal import Glibc

/// The name of an object's member, borrowed from the text: compare it, never keep it.
package struct JSONKey {
    let bytes: UnsafeBufferPointer<UInt8>
    /// Position of its first byte in the text.
    let offset: Int

    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Lets a `switch` over keys use literals, at the price of a comparison of bytes.
    @inlinable
    package static func ~= (name: StaticString, key: JSONKey) -> Bool { key.isNamed(name) }

    @usableFromInline
    package func isNamed(_ name: StaticString) -> Bool {
        bytes.count == name.utf8CodeUnitCount && isSpelt(at: name.utf8Start)
    }

    /// Whether a text has these bytes at this position, as far as the text is long enough.
    func isSpelt(at place: Int, in text: UnsafeBufferPointer<UInt8>) -> Bool {
        text.baseAddress.map { isSpelt(at: $0 + place) } ?? true
    }

    private func isSpelt(at start: UnsafePointer<UInt8>) -> Bool {
        bytes.baseAddress.map { memcmp($0, start, bytes.count) == 0 } ?? true
    }
}
