/// The formats that `export` writes.
enum ExportFormat: String, Sendable {
  case jsonl, json, csv

  /// The format chosen; without a choice what the file's name ends in, or JSON Lines.
  init?(_ choice: FormatChoice, file: String) {
    if choice == .auto {
      let ending = file.split(separator: ".").last.map { $0.lowercased() } ?? ""
      self = ExportFormat(rawValue: ending) ?? .jsonl
    } else {
      self.init(rawValue: choice.rawValue)
    }
  }

  func writer(_ columns: [Column], to output: TextOutput, on console: Console) -> any RowWriter {
    switch self {
    case .jsonl: JSONRowWriter(columns, to: output, layout: .lines)
    case .json: JSONRowWriter(columns, to: output, layout: .array)
    case .csv:
      CSVWriter(
        columns, to: output, nullValue: console.nullValue,
        escapesControls: output === console.output && console.terminal.isTerminal)
    }
  }
}
