#ifndef MZ_CSQLITE_SHIM_H
#define MZ_CSQLITE_SHIM_H
#include <sqlite3.h>
// A cast that Swift cannot spell.
static inline sqlite3_destructor_type mz_sqlite_transient(void) { return SQLITE_TRANSIENT; }
// Variadic in C. Closing a connection must not checkpoint: in a log of several writers, checkpoints have a lock of
// their own.
static inline int mz_sqlite_no_checkpoint_on_close(sqlite3 *db) {
    return sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}
#endif
