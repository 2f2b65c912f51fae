#ifndef LODESTORE_CZSTD_SHIM_H
#define LODESTORE_CZSTD_SHIM_H

#if !__has_include(<zstd.h>)
#error "zstd headers not found: install libzstd-dev (apt-get install libzstd-dev) or zstd (brew install zstd)"
#else
#include <zstd.h>
#include <zstd_errors.h>
#endif

#endif
