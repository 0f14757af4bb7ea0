internal import CPosix

/// The environment that a process was started with.
package enum ProcessEnvironment {
    /// Unsets what libcurl, OpenSSL and their like go by unasked: proxies, stores of certificates, modules to load, a file
    /// to write the keys of connections to, a home with passwords in it.
    ///
    /// - Concurrency: before other threads begin, as the first thing that a program does.
    package static func forgetLibraries() {
        for start in libraries { mz_forget(start) }
    }

    /// What the lines `NAME=value` begin with, in any case.
    private static let libraries = [
        "http_proxy=", "https_proxy=", "ftp_proxy=", "all_proxy=", "no_proxy=", "ws_proxy=", "wss_proxy=", "CURL_",
        "SSL",
        "OPENSSL_", "RANDFILE=", "CTLOG_FILE=", "QLOGDIR=", "NETRC=", "HOME=", "GNUTLS_", "LDAP",
    ]
}
