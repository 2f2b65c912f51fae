import ArgumentParser

/// How rows are written: the JSON forms and CSV are contracts, the others are for people.
package enum OutputFormat: String, CaseIterable, Sendable {
  case table, line, json, jsonl, csv, markdown

  var isJSON: Bool { self == .json || self == .jsonl }
}

/// `--format`.
enum FormatChoice: String, CaseIterable, ExpressibleByArgument, Sendable {
  case auto, table, line, json, jsonl, csv, markdown

  /// The format for a stream: a table for people, JSON Lines for programs, unless chosen.
  func format(on terminal: Terminal) -> OutputFormat {
    OutputFormat(rawValue: rawValue) ?? (terminal.isTerminal ? .table : .jsonl)
  }

  /// The format of an export: the one chosen, or what the file's name ends in, or JSON Lines.
  ///
  /// Nil for a format that is for people.
  func exportFormat(of file: String) -> OutputFormat? {
    let formats: [OutputFormat] = [.jsonl, .json, .csv]
    let ending = file.split(separator: ".").last?.lowercased()
    let name = self == .auto ? ending : rawValue
    return formats.first { $0.rawValue == name } ?? (self == .auto ? .jsonl : nil)
  }

  /// Whether JSON was asked for by name, and failures are to be JSON too.
  var isJSON: Bool { self == .json || self == .jsonl }

  /// The choice in a command line that could not be parsed as a whole.
  static func named(in arguments: [String]) -> FormatChoice? {
    for (index, argument) in arguments.enumerated() {
      if argument == "--format", index + 1 < arguments.count {
        return FormatChoice(rawValue: arguments[index + 1])
      }
      if argument.hasPrefix("--format=") {
        return FormatChoice(rawValue: String(argument.dropFirst("--format=".count)))
      }
    }
    return nil
  }
}
