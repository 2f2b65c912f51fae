#ifndef LODESTORE_CZLIB_SHIM_H
#define LODESTORE_CZLIB_SHIM_H

#if !__has_include(<zlib.h>)
#error "zlib headers not found: install zlib1g-dev (apt-get install zlib1g-dev) or zlib (brew install zlib)"
#else
#include <zlib.h>
#endif

#endif
