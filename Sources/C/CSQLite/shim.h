#ifndef MZ_CSQLITE_SHIM_H
#define MZ_CSQLITE_SHIM_H
#include <sqlite3.h>
// A cast that Swift cannot spell.
static inline sqlite3_destructor_type mz_sqlite_transient(void) { return SQLITE_TRANSIENT; }
#endif
