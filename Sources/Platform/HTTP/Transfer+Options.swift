internal import CCurl
internal import Clocks
internal import Glibc
internal import Posix

/// Options of libcurl for a transfer, and its callbacks.
extension Transfer {
    func configure(_ handle: EasyHandle, _ traffic: Traffic) {
        let easy = handle.pointer
        (self.handle, self.traffic) = (handle, traffic)
        let me = Unmanaged.passUnretained(self).toOpaque()
        mz_set_ptr(easy, CURLOPT_PRIVATE, me)
        mz_set_str(easy, CURLOPT_URL, WireURL.encoded(request.url))
        mz_set_long(easy, CURLOPT_PATH_AS_IS, 1)
        mz_set_str(easy, CURLOPT_PROTOCOLS_STR, "http,https")
        mz_set_long(easy, CURLOPT_DISALLOW_USERNAME_IN_URL, 1)
        mz_set_str(easy, CURLOPT_USERAGENT, request.userAgent)
        if let body = request.body {
            mz_set_long(easy, CURLOPT_POSTFIELDSIZE, body.count)
            // Copied at once, with the size set before.
            _ = body.withUnsafeBytes {
                mz_set_ptr(easy, CURLOPT_COPYPOSTFIELDS, UnsafeMutableRawPointer(mutating: $0.baseAddress))
            }
        }
        handle.set(headers: ["Accept-Encoding: identity"] + request.headers)
        // Codings that `HeadReader` refuses are not decoded either: despite its name this option also turns off the
        // decoders of transfer encodings, except for chunks. `CURLOPT_HTTP_TRANSFER_DECODING` would leave chunks
        // undecoded, and decode the others.
        mz_set_long(easy, CURLOPT_HTTP_CONTENT_DECODING, 0)

        // Uses nothing from the environment, and makes no step that the address check does not see.
        mz_set_long(easy, CURLOPT_NOSIGNAL, 1)
        mz_set_str(easy, CURLOPT_PROXY, "")
        mz_set_long(easy, CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue))
        mz_set_long(easy, CURLOPT_FOLLOWLOCATION, 0)

        // Otherwise a cold burst would open a connection for each transfer. Quick exit avoids waiting for getaddrinfo.
        mz_set_long(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS)
        // With TLS, the handshake shows whether a connection carries several requests at once. Without TLS only the
        // first response does, and a slow one would delay all other requests of its host.
        mz_set_long(easy, CURLOPT_PIPEWAIT, request.url.lowercased().hasPrefix("https:") ? 1 : 0)
        mz_set_long(easy, CURLOPT_QUICK_EXIT, 1)
        mz_set_long(easy, CURLOPT_MAXAGE_CONN, 60)
        mz_set_long(easy, CURLOPT_BUFFERSIZE, 64 << 10)
        if let authorities = request.authorities { mz_set_str(easy, CURLOPT_CAINFO, authorities) }

        // libcurl divides this time among a host's addresses, so that a silent address leaves time for the next one.
        let deadlines = request.deadlines
        mz_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, Int((deadlines.resolve + deadlines.connect).milliseconds))

        setCallbacks(easy, me)
    }

    private func setCallbacks(_ easy: UnsafeMutableRawPointer, _ me: UnsafeMutableRawPointer) {
        mz_set_ptr(easy, CURLOPT_RESOLVER_START_DATA, me)
        mz_set_resolver_start(easy) { _, _, me in
            Transfer.of(me).reached(.resolving)
            return 0
        }
        mz_set_ptr(easy, CURLOPT_OPENSOCKETDATA, me)
        mz_set_opensock(easy) { me, _, address in
            let transfer = Transfer.of(me)
            let address = address!
            if transfer.stage != .connecting { transfer.reached(.connecting) }
            let kind = address.pointee
            let asked = withUnsafeBytes(of: &address.pointee.addr) { start in
                // Bytes past the declared struct also belong to curl_sockaddr, which has room for any address.
                Transfer.address(
                    in: UnsafeRawBufferPointer(start: start.baseAddress, count: Int(kind.addrlen)), kind.family)
            }
            guard transfer.accepts(asked) else { return CURL_SOCKET_BAD }
            let made = socket(kind.family, kind.socktype | Int32(SOCK_CLOEXEC.rawValue), kind.protocol)
            if made >= 0 { transfer.traffic?.opened(made) }
            return made
        }
        // A connection outlives the transfer that opened it, and the loop owns its counter.
        mz_set_ptr(easy, CURLOPT_CLOSESOCKETDATA, traffic.map { Unmanaged.passUnretained($0).toOpaque() })
        mz_set_closesock(easy) { traffic, socket in
            Unmanaged<Traffic>.fromOpaque(traffic!).takeUnretainedValue().close(socket)
            return 0
        }
        // A reused connection opens no socket, so the check runs on every request.
        mz_set_ptr(easy, CURLOPT_PREREQDATA, me)
        mz_set_prereq(easy) { me, address, _, _, _ in
            let transfer = Transfer.of(me)
            transfer.reached(.waiting)
            return transfer.accepts(IPAddress(String(cString: address!)))
                ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
        }
        mz_set_ptr(easy, CURLOPT_HEADERDATA, me)
        mz_set_header(easy) { bytes, size, count, me in
            let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
            return Transfer.of(me).receive(line: line) ? line.count : 0
        }
        mz_set_ptr(easy, CURLOPT_WRITEDATA, me)
        mz_set_write(easy) { bytes, size, count, me in
            Transfer.of(me).receive(UnsafeRawBufferPointer(start: bytes, count: size * count))
        }
    }

    private static func of(_ opaque: UnsafeMutableRawPointer?) -> Transfer {
        Unmanaged<Transfer>.fromOpaque(opaque!).takeUnretainedValue()
    }

    /// The address in a socket address; nil if it is neither IPv4 nor IPv6.
    private static func address(in socketAddress: UnsafeRawBufferPointer, _ family: Int32) -> IPAddress? {
        switch family {
        case AF_INET where socketAddress.count >= 8: IPAddress(bytes: socketAddress[4..<8])
        case AF_INET6 where socketAddress.count >= 24: IPAddress(bytes: socketAddress[8..<24])
        default: nil
        }
    }
}
