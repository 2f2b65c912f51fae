#include "records.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#ifdef __GLIBC__
#include <malloc.h>
void raw_trim_memory(void) { malloc_trim(0); }
#else
void raw_trim_memory(void) {}
#endif

double raw_user_seconds(void) {
  struct rusage usage;
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  return (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec * 1e-6;
}

owned_text raw_own(const char *bytes, uint32_t length) {
  owned_text text;
  text.length = length;
  if (length <= sizeof text.small) {
    memcpy(text.small, bytes, length);
  } else {
    text.large = malloc(length);
    memcpy(text.large, bytes, length);
  }
  return text;
}

static const char *bytes_of(const owned_text *text) {
  return text->length <= sizeof text->small ? text->small : text->large;
}

void raw_release(owned_text *text) {
  if (text->length > sizeof text->small) free(text->large);
}

static size_t room_for(size_t room, size_t needed) {
  if (room == 0) room = 64;
  while (room < needed) room *= 2;
  return room;
}

owned_pod *raw_next_pods(raw_answer *answer, size_t count) {
  size_t needed = answer->pod_count + count;
  if (needed > answer->pod_room) {
    answer->pod_room = room_for(answer->pod_room, needed);
    answer->pods = realloc(answer->pods, answer->pod_room * sizeof(owned_pod));
  }
  return answer->pods + answer->pod_count;
}

owned_item *raw_next_items(raw_answer *answer, size_t count) {
  size_t needed = answer->item_count + count;
  if (needed > answer->item_room) {
    answer->item_room = room_for(answer->item_room, needed);
    answer->items = realloc(answer->items, answer->item_room * sizeof(owned_item));
  }
  return answer->items + answer->item_count;
}

void raw_clear_answer(raw_answer *answer) {
  for (size_t i = 0; i < answer->pod_count; i++) {
    owned_pod *p = &answer->pods[i];
    raw_release(&p->name);
    raw_release(&p->version);
    raw_release(&p->homepage);
    raw_release(&p->license);
    raw_release(&p->summary);
  }
  for (size_t i = 0; i < answer->item_count; i++) raw_release(&answer->items[i].title);
  answer->count = answer->pod_count = answer->item_count = 0;
  answer->sum = 0;
}

void raw_free_answer(raw_answer *answer) {
  raw_clear_answer(answer);
  free(answer->pods);
  free(answer->items);
  *answer = (raw_answer){0};
}

uint64_t raw_hash_number(uint64_t hash, uint64_t number) {
  hash = (hash ^ number) * 0x9FB21C651E98DF25u;
  return hash ^ (hash >> 32);
}

uint64_t raw_hash_bytes(uint64_t hash, const void *bytes, size_t count) {
  const char *next = bytes;
  hash = raw_hash_number(hash, count);
  for (; count >= 8; count -= 8, next += 8) {
    uint64_t part;
    memcpy(&part, next, 8);
    hash = raw_hash_number(hash, part);
  }
  uint64_t rest = 0;
  if (count > 0) memcpy(&rest, next, count);
  return raw_hash_number(hash, rest);
}

static uint64_t hash_text(uint64_t hash, const owned_text *text) {
  return raw_hash_bytes(hash, bytes_of(text), text->length);
}

static uint64_t hash_double(uint64_t hash, double number) {
  uint64_t bits;
  memcpy(&bits, &number, 8);
  return raw_hash_number(hash, bits);
}

uint64_t raw_hash_answer(const raw_answer *answer) {
  uint64_t hash = 0;
  for (size_t i = 0; i < answer->pod_count; i++) {
    const owned_pod *p = &answer->pods[i];
    hash = hash_text(hash, &p->name);
    hash = hash_text(hash, &p->version);
    hash = hash_text(hash, &p->homepage);
    hash = hash_text(hash, &p->license);
    hash = hash_text(hash, &p->summary);
    hash = raw_hash_number(hash, (uint64_t)p->downloads);
    hash = hash_double(hash, p->updated_at);
    hash = raw_hash_number(hash, p->deprecated);
  }
  for (size_t i = 0; i < answer->item_count; i++) {
    const owned_item *item = &answer->items[i];
    hash = hash_text(hash, &item->title);
    hash = hash_double(hash, item->created_at);
    hash = raw_hash_number(hash, item->is_done);
  }
  return hash;
}
