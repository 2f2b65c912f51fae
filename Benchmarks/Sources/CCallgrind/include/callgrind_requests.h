#ifndef CALLGRIND_REQUESTS_H
#define CALLGRIND_REQUESTS_H

// Requests of a program to valgrind's callgrind; without valgrind they do nothing.

/// Whether the program runs under valgrind and was built with its header.
int callgrind_is_running(void);

/// Counts from here on, from zero.
void callgrind_begin(void);

/// Ends counting and writes what was counted to the next file.
void callgrind_end(const char *name);

#endif
