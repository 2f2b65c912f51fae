#include "engine.h"

int raw_get_each(
  const raw_engine *engine, raw_store *reader, const raw_pod *pods, const uint32_t *wanted,
  size_t count
) {
  raw_answer answer = {0};
  int code = 0;
  for (size_t i = 0; i < count && code == 0; i++) {
    raw_clear_answer(&answer);
    code = engine->get_unique(reader, pods, &wanted[i], 1, &answer);
    if (code == 0 && answer.pods[0].downloads < pods[wanted[i]].downloads) code = -1;
  }
  raw_free_answer(&answer);
  return code;
}
