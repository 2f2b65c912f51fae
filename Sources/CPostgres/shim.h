#ifndef LODESTORE_CPOSTGRES_SHIM_H
#define LODESTORE_CPOSTGRES_SHIM_H

// pkg-config names the folder of the header, which differs from system to system.
#if !__has_include(<libpq-fe.h>)
#error "libpq headers not found: install libpq-dev (apt-get install libpq-dev) or libpq (brew install libpq)"
#else
#include <libpq-fe.h>
#endif

#endif
