internal import CIDN2

/// Converts international host names to DNS form, by libidn2.
package enum DomainName {
    /// The A-labels of a name in UTF-8 (UTS 46, non-transitional): `münchen.de` becomes `xn--mnchen-3ya.de`.
    ///
    /// Mapping may produce any ASCII (full-width digits and dots become plain ones), so the caller checks the result
    /// like any other name. A-labels are accepted only if they equal the conversion of their own Unicode form.
    package static func ascii(_ name: [UInt8]) throws(DomainNameFailure) -> [UInt8] {
        guard !name.contains(0) else { throw DomainNameFailure(reason: "it contains a zero byte") }
        var mapped: UnsafeMutablePointer<UInt8>?
        let flags = Int32(IDN2_NFC_INPUT.rawValue | IDN2_NONTRANSITIONAL.rawValue)
        let status = (name + [0]).withUnsafeBufferPointer { idn2_lookup_u8($0.baseAddress, &mapped, flags) }
        guard status == IDN2_OK.rawValue, let mapped else {
            throw DomainNameFailure(reason: String(cString: idn2_strerror(status)))
        }
        defer { idn2_free(mapped) }
        var end = 0
        while mapped[end] != 0 { end += 1 }
        return Array(UnsafeBufferPointer(start: mapped, count: end))
    }
}

/// The reason why a name has no A-labels, by libidn2.
package struct DomainNameFailure: Error, Sendable, Hashable {
    package let reason: String
    package init(reason: String) { self.reason = reason }
}
