import Synchronization

/// A list of lines on the screen that is redrawn in place.
///
/// Only changed lines are drawn again. If the output is not a terminal, each change is written as
/// lines: `+` for a new line and `-` for a deleted one.
///
///     let list = LiveList(on: terminal)
///     for try await update in store.updates(of: query) { list.show(update.items.map(line)) }
///
/// Nothing else may be written to the terminal until ``finish()``. Lines are cut at the width, and
/// the last line counts the lines that do not fit on the screen.
public final class LiveList: Sendable {
  private let terminal: Terminal
  private let shown = Mutex<[String]?>(nil)

  /// Makes an empty list.
  public init(on terminal: Terminal) { self.terminal = terminal }

  /// Replaces the lines of the list.
  public func show(_ lines: [String]) {
    shown.withLock { shown in
      let next = terminal.isInteractive ? fitting(lines) : lines
      guard next != shown else { return }
      terminal.write(
        terminal.isInteractive
          ? Self.redraw(shown ?? [], next) : Self.difference(shown, next))
      shown = next
    }
  }

  /// Ends the list and leaves its lines on the screen.
  ///
  /// The next list begins below them.
  public func finish() { shown.withLock { $0 = nil } }

  private func fitting(_ lines: [String]) -> [String] {
    let room = max(terminal.height - 2, 1)
    let cut = lines.prefix(lines.count > room ? room - 1 : room).map { $0.cut(to: terminal.width) }
    guard cut.count < lines.count else { return cut }
    return cut + [terminal.styled("… \(lines.count - cut.count) more", .dim)]
  }

  /// Returns the text that replaces the lines `old` by `new` on a terminal.
  ///
  /// The cursor is below the old lines before, and below the new lines afterwards.
  static func redraw(_ old: [String], _ new: [String]) -> String {
    var text = old.isEmpty ? "" : "\u{1B}[\(old.count)A"
    for (row, line) in new.enumerated() {
      let isSame = row < old.count && old[row] == line
      text += isSame ? "\n" : "\r\u{1B}[2K\(line)\n"
    }
    return new.count < old.count ? text + "\u{1B}[J" : text
  }

  /// Returns all lines at the first call, and the deleted and inserted lines later.
  static func difference(_ old: [String]?, _ new: [String]) -> String {
    guard let old else { return new.map { $0 + "\n" }.joined() }
    return new.difference(from: old).map { change in
      switch change {
      case .remove(_, let line, _): "- \(line)\n"
      case .insert(_, let line, _): "+ \(line)\n"
      }
    }.joined()
  }
}
