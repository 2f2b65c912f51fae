#include "callgrind_requests.h"

#if __has_include(<valgrind/callgrind.h>)

#include <valgrind/callgrind.h>

int callgrind_is_running(void) { return RUNNING_ON_VALGRIND != 0; }

void callgrind_begin(void) {
  CALLGRIND_START_INSTRUMENTATION;
  CALLGRIND_ZERO_STATS;
}

void callgrind_end(const char *name) {
  CALLGRIND_DUMP_STATS_AT(name);
  CALLGRIND_STOP_INSTRUMENTATION;
}

#else

int callgrind_is_running(void) { return 0; }
void callgrind_begin(void) {}
void callgrind_end(const char *name) { (void)name; }

#endif
