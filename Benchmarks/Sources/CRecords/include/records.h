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

/// A text that owns its bytes, like the strings of Swift and of C++. Up to 15 bytes are in place; a
/// longer text is in an allocated block.
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

/// The answer of an operation. It has the number of found or changed records, the decoded records,
/// and a sum over records of which only two fields were read.
typedef struct {
  size_t count;
  uint64_t sum;
  owned_pod *pods;
  owned_item *items;
  size_t pod_count, item_count, pod_room, item_room;
} raw_answer;

/// Makes room for `count` more records. The caller fills them and raises the answer's count.
owned_pod *raw_next_pods(raw_answer *answer, size_t count);
owned_item *raw_next_items(raw_answer *answer, size_t count);

owned_text raw_own(const char *bytes, uint32_t length);
void raw_release(owned_text *text);

void raw_free_answer(raw_answer *answer);
/// Frees the records, but keeps their array for other records.
void raw_clear_answer(raw_answer *answer);

/// A hash of the answer's records, in their order. Sides in other languages calculate the same hash
/// from the same records with the functions below.
uint64_t raw_hash_answer(const raw_answer *answer);

/// Continues a hash over more bytes, and over a number.
uint64_t raw_hash_bytes(uint64_t hash, const void *bytes, size_t count);
uint64_t raw_hash_number(uint64_t hash, uint64_t number);

/// Returns free memory to the system, so that the next measured operation does not reuse it.
void raw_trim_memory(void);

/// The processor time that this process spent outside the kernel.
double raw_user_seconds(void);

#endif
