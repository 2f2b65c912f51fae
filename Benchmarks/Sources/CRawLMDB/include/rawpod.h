#ifndef RAWPOD_H
#define RAWPOD_H

#include <stdint.h>

/// One generated pod, as C sees it.
typedef struct {
  const char *name, *version, *homepage, *license, *summary;
  uint32_t name_length, version_length, homepage_length, license_length, summary_length;
  int64_t downloads;
  double updated_at;
  uint8_t deprecated;
} raw_pod;

#endif
