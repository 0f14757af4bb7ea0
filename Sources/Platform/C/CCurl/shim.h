#ifndef MZ_CCURL_SHIM_H
#define MZ_CCURL_SHIM_H
#include <curl/curl.h>
#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt
static inline CURLcode mz_set_long(CURL *h, CURLoption o, long v) { return curl_easy_setopt(h, o, v); }
static inline CURLcode mz_set_str(CURL *h, CURLoption o, const char *v) { return curl_easy_setopt(h, o, v); }
static inline CURLcode mz_set_ptr(CURL *h, CURLoption o, void *v) { return curl_easy_setopt(h, o, v); }
static inline CURLcode mz_set_write(CURL *h, curl_write_callback v) { return curl_easy_setopt(h, CURLOPT_WRITEFUNCTION, v); }
static inline CURLcode mz_set_header(CURL *h, curl_write_callback v) { return curl_easy_setopt(h, CURLOPT_HEADERFUNCTION, v); }
static inline CURLcode mz_set_opensock(CURL *h, curl_opensocket_callback v) { return curl_easy_setopt(h, CURLOPT_OPENSOCKETFUNCTION, v); }
static inline CURLcode mz_set_closesock(CURL *h, curl_closesocket_callback v) { return curl_easy_setopt(h, CURLOPT_CLOSESOCKETFUNCTION, v); }
static inline CURLcode mz_set_prereq(CURL *h, curl_prereq_callback v) { return curl_easy_setopt(h, CURLOPT_PREREQFUNCTION, v); }
static inline CURLcode mz_set_resolver_start(CURL *h, curl_resolver_start_callback v) { return curl_easy_setopt(h, CURLOPT_RESOLVER_START_FUNCTION, v); }
static inline CURLcode mz_get_long(CURL *h, CURLINFO o, long *v) { return curl_easy_getinfo(h, o, v); }
static inline CURLcode mz_get_ptr(CURL *h, CURLINFO o, void **v) { return curl_easy_getinfo(h, o, v); }
static inline CURLMcode mz_multi_long(CURLM *h, CURLMoption o, long v) { return curl_multi_setopt(h, o, v); }
/* CURLMsg.data is a union that Swift imports poorly: flatten it. */
static inline CURL *mz_done(CURLM *m, CURLcode *rc) {
    int left; CURLMsg *g;
    while ((g = curl_multi_info_read(m, &left))) if (g->msg == CURLMSG_DONE) { *rc = g->data.result; return g->easy_handle; }
    return 0;
}
#endif
