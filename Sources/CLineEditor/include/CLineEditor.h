/// Lines that a person types at a terminal.
///
/// The editing is that of libedit, which is loaded when a prompt opens: a program needs it neither to be built nor to
/// start. Without libedit the terminal itself edits the line. All functions but line_editor_restore_terminal belong to
/// one thread.

#ifndef CLINEEDITOR_H
#define CLINEEDITOR_H

#ifdef __cplusplus
extern "C" {
#endif

/// The end of a call of line_editor_read.
enum line_editor_end {
  line_editor_end_line,
  /// Control-C, which drops the line.
  line_editor_end_cancelled,
  /// Control-D on an empty line, or the end of the terminal.
  line_editor_end_of_input
};

/// Finds completions for the end of the first `end` characters of `line`, and passes each to
/// line_editor_add_candidate. Returns the character to insert after a single completion, or 0 for none. A result of -1
/// completes the name of a file.
typedef int (*line_editor_completer)(const char *line, int end);

/// Takes the standard input as the terminal, and loads libedit. Returns 0 if there is no libedit, or if the terminal
/// cannot move its cursor. `word_breaks` has the characters between words.
int line_editor_open(const char *word_breaks, line_editor_completer completer);

/// Reads a line, which the caller frees. The result is null unless the end is line_editor_end_line.
char *line_editor_read(const char *prompt, enum line_editor_end *end);

/// Adds a line to those that the arrow keys recall.
void line_editor_remember(const char *line);

/// Adds a completion, while the completer runs.
void line_editor_add_candidate(const char *text);

/// Gives the terminal the mode that it had when it was opened. A signal handler may call this function at any time.
void line_editor_restore_terminal(void);

#ifdef __cplusplus
}
#endif

#endif
