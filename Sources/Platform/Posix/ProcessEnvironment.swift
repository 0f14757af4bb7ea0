internal import CPosix

/// The process's inherited environment.
package enum ProcessEnvironment {
    /// Unsets variables that libcurl, OpenSSL and similar libraries use unasked: proxies, certificate stores, modules
    /// to load, a file for the keys of connections, a home with passwords.
    ///
    /// - Concurrency: call it first in a program, before other threads start.
    package static func forgetLibraries() {
        for start in libraries { mz_forget(start) }
    }

    /// Beginnings of the lines `NAME=value`, in any case.
    private static let libraries = [
        "http_proxy=", "https_proxy=", "ftp_proxy=", "all_proxy=", "no_proxy=", "ws_proxy=", "wss_proxy=", "CURL_",
        "SSL",
        "OPENSSL_", "RANDFILE=", "CTLOG_FILE=", "QLOGDIR=", "NETRC=", "HOME=", "GNUTLS_", "LDAP",
    ]
}
