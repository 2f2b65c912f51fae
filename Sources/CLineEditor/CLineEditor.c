#include "CLineEditor.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

/// The parts of libedit's interface for programs of readline, of which all versions have the same form.
static struct {
  char *(*readline)(const char *);
  int (*add_history)(const char *);
  void (*using_history)(void);
  int (*add_defun)(const char *, int (*)(int, int), int);
  char **(**attempted_completion_function)(const char *, int, int);
  int *attempted_completion_over;
  int *completion_append_character;
  int *done;
  char **line_buffer;
  const char **word_breaks;
} editor;

static line_editor_completer completer;
static struct termios saved_mode;
static volatile sig_atomic_t has_saved_mode;
static int was_cancelled;

static char **candidates;
static size_t candidate_count;

// MARK: libedit

static void *library(void) {
#ifdef __APPLE__
  static const char *const names[] = {"libedit.3.dylib", "/usr/lib/libedit.3.dylib"};
#else
  static const char *const names[] = {"libedit.so.2", "libedit.so.0", "libedit.so"};
#endif
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    void *found = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (found != NULL) return found;
  }
  return NULL;
}

static int load(void *found) {
  const struct {
    const char *name;
    void *place;
  } symbols[] = {
      {"readline", &editor.readline},
      {"add_history", &editor.add_history},
      {"using_history", &editor.using_history},
      {"rl_add_defun", &editor.add_defun},
      {"rl_attempted_completion_function", &editor.attempted_completion_function},
      {"rl_attempted_completion_over", &editor.attempted_completion_over},
      {"rl_completion_append_character", &editor.completion_append_character},
      {"rl_done", &editor.done},
      {"rl_line_buffer", &editor.line_buffer},
      {"rl_basic_word_break_characters", &editor.word_breaks},
  };
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
    void *symbol = dlsym(found, symbols[i].name);
    if (symbol == NULL) return 0;
    memcpy(symbols[i].place, &symbol, sizeof symbol);
  }
  return 1;
}

/// The key Control-C. The terminal does not make a signal of it while a line is edited.
static int cancel(int count, int key) {
  (void)count;
  (void)key;
  was_cancelled = 1;
  *editor.done = 1;
  return 0;
}

/// The number of bytes at the beginning that all candidates share. Their end is the end of a character.
static size_t common_prefix(void) {
  size_t length = strlen(candidates[1]);
  for (size_t i = 2; i <= candidate_count; i++) {
    size_t equal = 0;
    while (equal < length && candidates[1][equal] == candidates[i][equal]) equal++;
    length = equal;
  }
  while (length > 0 && (candidates[1][length] & 0xC0) == 0x80) length--;
  return length;
}

static char **complete(const char *text, int start, int end) {
  (void)text;
  (void)start;
  candidate_count = 0;
  // The first element is for the common beginning.
  candidates = calloc(2, sizeof *candidates);
  if (candidates == NULL) return NULL;
  int character = completer(*editor.line_buffer, end);
  *editor.attempted_completion_over = character >= 0;
  *editor.completion_append_character = character > 0 ? character : 0;
  if (candidate_count > 0) candidates[0] = strndup(candidates[1], common_prefix());
  if (candidate_count == 0 || candidates[0] == NULL) {
    free(candidates);
    candidates = NULL;
    if (character < 0) *editor.completion_append_character = ' ';
  }
  char **found = candidates;
  candidates = NULL;
  return found;
}

void line_editor_add_candidate(const char *text) {
  if (candidates == NULL) return;
  char **longer = realloc(candidates, (candidate_count + 3) * sizeof *candidates);
  if (longer == NULL) return;
  candidates = longer;
  char *copy = strdup(text);
  if (copy == NULL) return;
  candidates[++candidate_count] = copy;
  candidates[candidate_count + 1] = NULL;
}

int line_editor_open(const char *word_breaks, line_editor_completer new_completer) {
  has_saved_mode = tcgetattr(STDIN_FILENO, &saved_mode) == 0;
  const char *terminal = getenv("TERM");
  if (terminal == NULL || strcmp(terminal, "dumb") == 0) return 0;
  void *found = library();
  if (found == NULL) return 0;
  if (!load(found)) {
    editor.readline = NULL;
    dlclose(found);
    return 0;
  }
  // libedit reads keys as characters of the locale.
  setlocale(LC_CTYPE, "");
  if (strcmp(nl_langinfo(CODESET), "UTF-8") != 0) setlocale(LC_CTYPE, "C.UTF-8");
  completer = new_completer;
  editor.using_history();
  editor.add_defun("cancel-line", cancel, 'C' & 0x1F);
  *editor.attempted_completion_function = complete;
  *editor.word_breaks = strdup(word_breaks);
  return 1;
}

void line_editor_remember(const char *line) {
  if (editor.readline != NULL) editor.add_history(line);
}

// MARK: Without libedit

static int interrupts[2] = {-1, -1};

static void note_interrupt(int number) {
  (void)number;
  int code = errno;
  (void)!write(interrupts[1], "", 1);
  errno = code;
}

/// Reads a line that the terminal edits. A signal may arrive at another thread and then ends no call of read, so
/// the handler writes to a pipe.
static char *read_plainly(const char *prompt, enum line_editor_end *end) {
  *end = line_editor_end_of_input;
  if (interrupts[0] < 0) {
    if (pipe(interrupts) != 0) return NULL;
    for (int i = 0; i < 2; i++) {
      fcntl(interrupts[i], F_SETFD, FD_CLOEXEC);
      fcntl(interrupts[i], F_SETFL, O_NONBLOCK);
    }
  }
  void (*previous)(int) = signal(SIGINT, note_interrupt);
  (void)!write(STDOUT_FILENO, prompt, strlen(prompt));
  size_t length = 0;
  char *text = NULL;
  for (;;) {
    struct pollfd sources[] = {{STDIN_FILENO, POLLIN, 0}, {interrupts[0], POLLIN, 0}};
    if (poll(sources, 2, -1) < 0) {
      if (errno == EINTR) continue;
      break;
    }
    char byte;
    if (sources[1].revents != 0) {
      while (read(interrupts[0], &byte, 1) > 0) {
      }
      *end = line_editor_end_cancelled;
      break;
    }
    ssize_t count = read(STDIN_FILENO, &byte, 1);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0 && length == 0) break;
    if (count <= 0 || byte == '\n') {
      *end = line_editor_end_line;
      break;
    }
    char *longer = realloc(text, length + 2);
    if (longer == NULL) break;
    text = longer;
    text[length++] = byte;
  }
  signal(SIGINT, previous);
  if (*end == line_editor_end_line) {
    if (text == NULL) text = malloc(1);
    if (text != NULL) text[length] = '\0';
  } else {
    free(text);
    text = NULL;
  }
  return text;
}

// MARK: Both

char *line_editor_read(const char *prompt, enum line_editor_end *end) {
  if (editor.readline == NULL) return read_plainly(prompt, end);
  was_cancelled = 0;
  if (has_saved_mode) {
    struct termios mode = saved_mode;
    mode.c_cc[VINTR] = _POSIX_VDISABLE;
    tcsetattr(STDIN_FILENO, TCSADRAIN, &mode);
  }
  char *text = editor.readline(prompt);
  line_editor_restore_terminal();
  *end = was_cancelled  ? line_editor_end_cancelled
         : text != NULL ? line_editor_end_line
                        : line_editor_end_of_input;
  if (!was_cancelled) return text;
  free(text);
  return NULL;
}

void line_editor_restore_terminal(void) {
  int code = errno;
  // The terminal would stop a process in the background that changes its mode.
  if (has_saved_mode && tcgetpgrp(STDIN_FILENO) == getpgrp())
    tcsetattr(STDIN_FILENO, TCSADRAIN, &saved_mode);
  errno = code;
}
