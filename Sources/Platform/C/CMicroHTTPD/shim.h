#ifndef MZ_CMICROHTTPD_SHIM_H
#define MZ_CMICROHTTPD_SHIM_H
#include <stdint.h>
#include <stdio.h>
#include <stdarg.h>
#include <sys/types.h>
#include <sys/socket.h>
#include <netinet/in.h>
#include <microhttpd.h>
// MHD_start_daemon is variadic: this is one call with the options that the product uses.
static inline struct MHD_Daemon *mz_mhd_start(
    const struct sockaddr *address, void *owner, void *(*uri)(void *, const char *, struct MHD_Connection *),
    MHD_AccessHandlerCallback access, MHD_RequestCompletedCallback completed, MHD_NotifyConnectionCallback connection,
    unsigned connections, unsigned seconds, size_t memory) {
    struct MHD_OptionItem options[] = {
        { MHD_OPTION_SOCK_ADDR, 0, (void *)address },
        { MHD_OPTION_URI_LOG_CALLBACK, (intptr_t)uri, owner },
        { MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)completed, owner },
        { MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)connection, owner },
        { MHD_OPTION_CONNECTION_LIMIT, (intptr_t)connections, 0 },
        { MHD_OPTION_CONNECTION_TIMEOUT, (intptr_t)seconds, 0 },
        { MHD_OPTION_CONNECTION_MEMORY_LIMIT, (intptr_t)memory, 0 },
        { MHD_OPTION_END, 0, 0 },
    };
    const unsigned family = address->sa_family == AF_INET6 ? MHD_USE_IPv6 : 0;
    return MHD_start_daemon(
        family | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, 0, 0, access, owner,
        MHD_OPTION_ARRAY, options, MHD_OPTION_END);
}
// There is no call to close a connection: this shuts its socket, and the daemon notices in its next round.
static inline void mz_mhd_shut(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (info) shutdown(info->connect_fd, SHUT_RDWR);
}
static inline int mz_mhd_port(struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
    return info ? info->port : 0;
}
#endif
