import CLineEditor
import LodestoreSystem
import Synchronization

/// The lines of a prompt, edited by libedit or by the terminal.
///
/// A process has one terminal, so all members are static. One thread uses them at a time.
enum LineEditor {
  enum Line {
    case line(String)
    /// Control-C.
    case cancelled
    case end
  }

  /// The state of the completer, which is a function of C without a context.
  private struct State: Sendable {
    var completion: ShellCompletion?
    /// The earlier lines of the command.
    var before = ""
  }

  private static let state = Mutex(State())

  /// Takes the terminal of the standard input; returns false if the terminal itself edits the lines.
  static func open(_ completion: ShellCompletion) -> Bool {
    state.withLock { $0.completion = completion }
    let isEdited = line_editor_open(ShellCompletion.wordBreaks) { line, end in
      guard let line else { return 0 }
      // libedit counts characters, which are Unicode scalars.
      let typed = String(cString: line).unicodeScalars.prefix(Int(end))
      let state = LineEditor.state.withLock { $0 }
      switch state.completion?.complete(state.before + String(typed)) {
      case .words(let words, let addsSpace)?:
        for word in words { line_editor_add_candidate(word) }
        return addsSpace ? 0x20 : 0
      case .files?: return -1
      case nil: return 0
      }
    }
    return isEdited != 0
  }

  /// Reads a line.
  ///
  /// - Parameter before: The earlier lines of the same command.
  static func read(_ prompt: String, after before: String) -> Line {
    state.withLock { $0.before = before.isEmpty ? "" : before + "\n" }
    var end = line_editor_end_line
    let bytes = line_editor_read(prompt, &end)
    defer { free(bytes) }
    switch end {
    case line_editor_end_line: return bytes.map { .line(String(cString: $0)) } ?? .end
    case line_editor_end_cancelled: return .cancelled
    default: return .end
    }
  }

  /// Adds a line to those that the arrow keys recall.
  static func remember(_ line: String) { line_editor_remember(line) }
}
