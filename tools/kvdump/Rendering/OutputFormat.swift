import ArgumentParser

/// The format of rows.
///
/// Programs may rely on the JSON formats, GeoJSON, CSV and Arrow. The other formats are for people.
package enum OutputFormat: String, CaseIterable, Sendable {
  case table, line, json, jsonl, csv, markdown, arrow, geojson

  var isJSON: Bool { self == .json || self == .jsonl }
}

/// The values of `--format`.
enum FormatChoice: String, CaseIterable, ExpressibleByArgument, Sendable {
  case auto, table, line, json, jsonl, csv, markdown, arrow, geojson

  /// The format for a stream: the chosen one, else a table for people and JSON Lines for programs.
  func format(on terminal: Terminal) -> OutputFormat {
    OutputFormat(rawValue: rawValue) ?? (terminal.isTerminal ? .table : .jsonl)
  }

  /// The format of an export: the chosen one, else by the file's suffix, else JSON Lines.
  ///
  /// `nil` for a format for people.
  func exportFormat(of file: String) -> OutputFormat? {
    let formats: [OutputFormat] = [.jsonl, .json, .csv, .arrow, .geojson]
    let ending = file.split(separator: ".").last?.lowercased()
    let name = self == .auto ? ending : rawValue
    return formats.first { $0.rawValue == name } ?? (self == .auto ? .jsonl : nil)
  }

  /// Whether JSON was chosen, so that failures are JSON too.
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
