/// Quotes texts as words of a command line that a person may copy into a shell.
///
/// Names and paths come from files of other people. A name or a path must neither end its word nor
/// be read as an option.
package enum ShellWord {
  /// Returns `text` as one word of a shell, quoted if necessary.
  package static func quoted(_ text: String) -> String {
    let isPlain = text.allSatisfy {
      $0.isASCII && ($0.isLetter || $0.isNumber) || ["_", ".", "/", "-"].contains($0)
    }
    return isPlain && !text.isEmpty ? text : "'" + text.replacing("'", with: "'\\''") + "'"
  }

  /// Returns `path` as one word of a shell that no command takes for an option.
  package static func path(_ path: String) -> String {
    quoted(path.hasPrefix("-") ? "./" + path : path)
  }

  /// An option with its value, which may begin like an option.
  static func option(_ name: String, _ value: String) -> String {
    "--" + name + (value.hasPrefix("-") ? "=" : " ") + quoted(value)
  }
}
