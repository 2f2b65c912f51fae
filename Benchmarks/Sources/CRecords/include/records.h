#ifndef RECORDS_H
#define RECORDS_H

#include <stddef.h>
#include <stdint.h>

/// A text of the generator; its bytes live as long as the workload.
typedef struct {
  const char *bytes;
  uint32_t length;
} raw_text;

/// One generated pod in C; a homepage without bytes is absent.
typedef struct {
  raw_text name, version, homepage, license, summary;
  int64_t downloads;
  double updated_at;
  uint8_t deprecated;
} raw_pod;

/// One generated to-do item.
typedef struct {
  raw_text title;
  double created_at;
  uint8_t is_done;
} raw_item;

/// A text that owns its bytes: 15 of them in place, more in a block of their own, like the strings
/// of Swift and of C++.
typedef struct {
  uint32_t length;
  union {
    char small[15];
    char *large;
  };
} owned_text;

/// A record as a query answers it, which outlives the transaction.
typedef struct {
  owned_text name, version, homepage, license, summary;
  int64_t downloads;
  double updated_at;
  uint8_t deprecated;
} owned_pod;

typedef struct {
  owned_text title;
  double created_at;
  uint8_t is_done;
} owned_item;

/// The answer of an operation: the number of found or changed records, the decoded ones, and a sum
/// over those of which only two fields were read.
typedef struct {
  size_t count;
  uint64_t sum;
  owned_pod *pods;
  owned_item *items;
  size_t pod_count, item_count, pod_room, item_room;
} raw_answer;

/// Makes room for `count` more; the caller fills them and raises the count.
owned_pod *raw_next_pods(raw_answer *answer, size_t count);
owned_item *raw_next_items(raw_answer *answer, size_t count);

owned_text raw_own(const char *bytes, uint32_t length);
void raw_release(owned_text *text);

void raw_free_answer(raw_answer *answer);
/// Gives the records back but keeps the room for others.
void raw_clear_answer(raw_answer *answer);

/// A hash of the answer's records, in their order; others make the same from the same records with
/// the functions below.
uint64_t raw_hash_answer(const raw_answer *answer);

/// Continues a hash over more bytes, and over a number.
uint64_t raw_hash_bytes(uint64_t hash, const void *bytes, size_t count);
uint64_t raw_hash_number(uint64_t hash, uint64_t number);

/// Gives memory that is free back to the system, so that what is measured next does not reuse it.
void raw_trim_memory(void);

/// The processor time that this process spent outside the kernel.
double raw_user_seconds(void);

#endif
