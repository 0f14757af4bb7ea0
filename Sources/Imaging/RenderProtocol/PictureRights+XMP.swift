package import Images

extension PictureRights {
    /// Most bytes of a block of metadata.
    package static let packetLimit = 2048

    /// A variant's only block of metadata, an XMP packet (ISO 16684-1); nil if all fields are empty.
    package var packet: [UInt8]? {
        if isEmpty { return nil }
        func text(_ value: String) -> String { Self.escaped(value) }
        func attribute(_ name: String, _ value: String) -> String { value.isEmpty ? "" : " \(name)=\"\(text(value))\"" }
        func list(_ name: String, _ kind: String, _ item: String, _ value: String) -> String {
            value.isEmpty ? "" : "<\(name)><rdf:\(kind)><rdf:li\(item)>\(text(value))</rdf:li></rdf:\(kind)></\(name)>"
        }
        let packet =
            "<?xpacket begin=\"\u{FEFF}\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?><x:xmpmeta xmlns:x=\"adobe:ns:meta/\">"
            + "<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\"><rdf:Description rdf:about=\"\""
            + " xmlns:dc=\"http://purl.org/dc/elements/1.1/\""
            + (credit.isEmpty ? "" : " xmlns:photoshop=\"http://ns.adobe.com/photoshop/1.0/\"")
            + (sourceType.isEmpty ? "" : " xmlns:Iptc4xmpExt=\"http://iptc.org/std/Iptc4xmpExt/2008-02-29/\"")
            + attribute("photoshop:Credit", credit) + attribute("Iptc4xmpExt:DigitalSourceType", sourceType) + ">"
            + list("dc:creator", "Seq", "", creator) + list("dc:rights", "Alt", " xml:lang=\"x-default\"", notice)
            + "</rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end=\"r\"?>"
        return Array(packet.utf8)
    }
}
