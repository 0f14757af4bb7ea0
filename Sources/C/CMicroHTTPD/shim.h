#ifndef MZ_CMICROHTTPD_SHIM_H
#define MZ_CMICROHTTPD_SHIM_H
#include <stdint.h>
#include <stdio.h>
#include <stdarg.h>
#include <sys/types.h>
#include <sys/socket.h>
#include <netinet/in.h>
#include <microhttpd.h>
#endif
