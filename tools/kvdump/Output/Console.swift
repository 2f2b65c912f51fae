/// The two streams that a command writes to, and how it writes to them.
///
/// Data goes to standard output, everything else to standard error. Notes are held back until the
/// data is out, so that they come last and after the pager. Not for use by two threads at once.
package final class Console {
  /// Data.
  package private(set) var output: TextOutput
  private let errors: TextOutput
  private let sink: any ByteSink
  /// Reads a line that a person types, nil at the end; nil when there is nobody to ask.
  private let answers: (() -> String?)?
  let terminal: Terminal
  let errorTerminal: Terminal
  let environment: [String: String]

  package private(set) var format: OutputFormat
  private(set) var style = Style.plain
  private(set) var nullValue = ""
  private var isQuiet = false
  private var notes: [String] = []
  private var errorsAreJSON = false
  private var isFinished = false

  /// A console without a terminal.
  package convenience init(output: any ByteSink, errors: any ByteSink) {
    self.init(output: output, errors: errors, terminal: .none)
  }

  init(
    output: any ByteSink, errors: any ByteSink, terminal: Terminal = .none,
    errorTerminal: Terminal = .none, environment: [String: String] = [:],
    answers: (() -> String?)? = nil
  ) {
    self.answers = answers
    sink = output
    self.output = TextOutput(output)
    self.errors = TextOutput(errors)
    self.terminal = terminal
    self.errorTerminal = errorTerminal
    self.environment = environment
    format = FormatChoice.auto.format(on: terminal)
  }

  /// Takes over a command's options; called once, before the command runs.
  func apply(_ options: OutputOptions) {
    format = options.format.format(on: terminal)
    errorsAreJSON = options.format.isJSON
    style = Style(isEnabled: options.color.isEnabled(on: terminal, environment: environment))
    nullValue = options.nullValue.last ?? ""
    isQuiet = options.quiet
    if let size = terminal.size, !options.noPager, terminal.hasStyle,
      let pager = PagerSink.command(in: environment)
    {
      output = TextOutput(
        PagerSink(screen: sink, size: size, command: pager, folder: temporaryFolder))
    }
  }

  /// Where temporary files are made.
  var temporaryFolder: String {
    environment["TMPDIR"].flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
  }

  /// Has rows shown as they come, and not by the pager at the end; called before anything is
  /// written.
  func showAtOnce() { output = TextOutput(sink) }

  /// Failures will be written as JSON; for wrong uses, which happen before there are options.
  func useJSONForErrors() { errorsAreJSON = true }

  /// A writer of rows in the format chosen.
  package func rows(of columns: [Column]) -> any RowWriter {
    rows(of: columns, as: format, to: output)
  }

  func rows(
    of columns: [Column], as format: OutputFormat, to output: TextOutput
  ) -> any RowWriter {
    switch format {
    case .table:
      TableWriter(columns, to: output, width: terminal.size?.columns, style: style)
    case .line: LineWriter(columns, to: output, width: nil, style: style)
    case .json: JSONRowWriter(columns, to: output, layout: .array)
    case .jsonl: JSONRowWriter(columns, to: output, layout: .lines)
    case .csv:
      CSVWriter(
        columns, to: output, nullValue: nullValue,
        escapesControls: output === self.output && terminal.isTerminal)
    case .markdown: MarkdownWriter(columns, to: output)
    }
  }

  /// Writes rows, and nothing after them.
  package func write(_ rows: some Sequence<[Cell]>, of columns: [Column]) throws {
    let writer = self.rows(of: columns)
    for row in rows { try writer.write(row) }
    try writer.finish()
  }

  /// Writes one thing that is not a row of many: a report, a single record.
  ///
  /// An object in both JSON formats, lines of "name value" for people, one row in CSV.
  package func writeObject(_ members: [(column: Column, cell: Cell)]) throws {
    let columns = members.map(\.column)
    let writer: any RowWriter =
      switch format {
      case .json: JSONRowWriter(columns, to: output, layout: .lines)
      case .table: LineWriter(columns, to: output, width: nil, style: style)
      case .line, .jsonl, .csv, .markdown: rows(of: columns)
      }
    try writer.write(members.map(\.cell))
    try writer.finish()
  }

  /// Writes one line of text, whatever the format.
  package func line(_ text: String) throws { try output.write(text + "\n") }

  /// Writes out what is held back.
  func flush() throws { try output.flush() }

  /// A line that tells how far the command is.
  func progress() -> Progress { Progress(errors, isShown: showsProgress) }

  /// Whether there is somebody to see how far the command is.
  private var showsProgress: Bool {
    errorTerminal.isTerminal && errorTerminal.hasStyle && !isQuiet
  }

  /// Calls `body` with a progress line for runs of the query engine, which is gone afterwards; nil
  /// where nobody sees it, since a run that is watched is the slower one.
  func withProgress<R>(_ body: (RunProgress?) throws -> R) rethrows -> R {
    guard showsProgress else { return try body(nil) }
    let progress = RunProgress(progress())
    defer { progress.end() }
    return try body(progress)
  }

  /// Whether there is a person to ask.
  var canAsk: Bool { answers != nil }

  /// Asks a question of yes or no; anything but yes is no.
  func ask(_ question: String) -> Bool {
    guard let answers else { return false }
    try? errors.write(DisplayText.escaped(question) + " [y/N] ")
    try? errors.flush()
    let answer = answers()?.lowercased()
    return answer == "y" || answer == "yes"
  }

  /// Keeps a line for standard error until the data is out; `--quiet` drops it.
  package func note(_ text: String?) {
    if let text, !isQuiet { notes.append(DisplayText.escaped(text)) }
  }

  /// Writes a failure on standard error at once; silent ones are not written.
  ///
  /// The excerpt is for people, and not for those who asked for quiet.
  func report(_ failure: CommandFailure) {
    guard !failure.isSilent else { return }
    // Nothing is left to be told, and nobody to tell it to, when standard error is closed too.
    try? errors.write((errorsAreJSON ? failure.json : failure.line) + "\n")
    if !errorsAreJSON, !isQuiet {
      for line in failure.excerpt { try? errors.write(DisplayText.escaped(line) + "\n") }
    }
    try? errors.flush()
  }

  /// Ends both streams, the data first, and shows the pager.
  ///
  /// The store must be closed by now: a person may look at the pager for hours.
  func finish() throws {
    // A stream that failed to end is not ended again on the way out of that failure.
    guard !isFinished else { return }
    isFinished = true
    try output.finish()
    for note in notes { try? errors.write(note + "\n") }
    notes = []
    try? errors.flush()
  }
}
