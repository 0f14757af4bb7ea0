/// The name of an object's member, borrowed from the text that is read: compare it, never keep it.
package struct JSONKey {
    let bytes: UnsafeBufferPointer<UInt8>
    /// Where its first byte stands in the text.
    let offset: Int

    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Lets a `switch` over keys name them by literals, at the price of a comparison of bytes.
    @inlinable
    package static func ~= (name: StaticString, key: JSONKey) -> Bool { key.isNamed(name) }

    @usableFromInline
    package func isNamed(_ name: StaticString) -> Bool {
        bytes.count == name.utf8CodeUnitCount
            && UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount).elementsEqual(bytes)
    }
}
