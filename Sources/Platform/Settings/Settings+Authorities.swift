internal import Digest
internal import Origin
internal import SettingTypes

extension Settings.Fetch {
    /// Problems of the files of `authorities`. Only programs that fetch check them: others may lack the right to read
    /// them.
    package var problems: [(key: String, message: String)] {
        origin.authorities.compactMap { path in Self.problem(of: path).map { ("fetch.authorities", $0) } }
    }

    private static func problem(of path: String) -> String? {
        let bytes: [UInt8]
        do throws(SettingRefusal) { bytes = try SecretFile.bytes(in: path, limit: 4 << 20) } catch {
            return error.message
        }
        switch PEMCertificates.count(in: bytes) {
        case nil:
            return "names \(path), which holds a PEM block that is damaged. Replace it, or remove it from the file."
        case 0:
            return
                "names \(path), which holds no certificate in PEM (-----BEGIN CERTIFICATE-----). Convert one in DER by 'openssl x509 -inform der -in FILE -out FILE.pem'."
        default: return nil
        }
    }
}
