/// The two streams that a command writes to, and the form of the output.
///
/// Data goes to standard output, everything else to standard error. Notes are held back until the
/// data is written, so that they appear last and after the pager. Use a console on one thread at a
/// time.
package final class Console {
  /// The stream for data.
  package private(set) var output: TextOutput
  private let errors: TextOutput
  private let sink: any ByteSink
  /// Reads a line that the user types, `nil` at the end of input.
  ///
  /// The closure is `nil` if there is nobody to ask.
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
  /// The progress line of the running query.
  private var running: Progress?

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

  /// Adopts a command's options.
  ///
  /// Call it once, before the command runs.
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

  /// The folder for temporary files.
  var temporaryFolder: String { environment["TMPDIR"].flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp" }

  /// Shows rows at once and not through the pager at the end.
  ///
  /// Call it before anything is written.
  func showAtOnce() { output = TextOutput(sink) }

  /// Writes failures as JSON from now on.
  ///
  /// Usage errors need this, because they occur before the options are known.
  func useJSONForErrors() { errorsAreJSON = true }

  /// A writer of rows in the chosen format.
  package func rows(of columns: [Column]) -> any RowWriter {
    rows(of: columns, as: format, to: output)
  }

  func rows(of columns: [Column], as format: OutputFormat, to output: TextOutput) -> any RowWriter {
    let isOnScreen = output === self.output && terminal.isTerminal
    return switch format {
    case .table: TableWriter(columns, to: output, width: terminal.size?.columns, style: style)
    case .line: LineWriter(columns, to: output, width: nil, style: style)
    case .json: JSONRowWriter(columns, to: output, layout: .array)
    case .jsonl: JSONRowWriter(columns, to: output, layout: .lines)
    case .csv:
      CSVWriter(columns, to: output, nullValue: nullValue, escapesControls: isOnScreen)
    case .markdown: MarkdownWriter(columns, to: output)
    case .arrow: ArrowWriter(columns, to: output, isOnTerminal: isOnScreen)
    case .geojson: GeoJSONRowWriter(columns, to: output)
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
  /// The output is an object in both JSON formats, lines of "name value" for people, and one row in
  /// CSV.
  package func writeObject(_ members: [(column: Column, cell: Cell)]) throws {
    let columns = members.map(\.column)
    let writer: any RowWriter =
      switch format {
      case .json: JSONRowWriter(columns, to: output, layout: .lines)
      case .table: LineWriter(columns, to: output, width: nil, style: style)
      case .line, .jsonl, .csv, .markdown, .arrow, .geojson: rows(of: columns)
      }
    try writer.write(members.map(\.cell))
    try writer.finish()
  }

  /// Writes one line of text, whatever the format.
  package func line(_ text: String) throws { try output.write(text + "\n") }

  /// Writes buffered output.
  func flush() throws { try output.flush() }

  /// A line that shows the progress of the command.
  package func progress() -> Progress { Progress(errors, isShown: showsProgress) }

  /// Whether somebody can see the progress.
  private var showsProgress: Bool { errorTerminal.isTerminal && errorTerminal.hasStyle && !isQuiet }

  /// Calls `body` with a progress line for runs of the query engine, and removes the line
  /// afterwards.
  ///
  /// The argument is `nil` if nobody would see it, because reporting makes a run slower.
  func withProgress<R>(_ body: (Progress?) throws -> R) rethrows -> R {
    guard showsProgress else { return try body(nil) }
    let progress = progress()
    running = progress
    defer { endProgress(always: true) }
    return try body(progress)
  }

  /// Erases the progress line of the running query if the output is on the same screen.
  ///
  /// Call it before the first row.
  func endProgress(always: Bool = false) {
    guard let running, always || terminal.isTerminal else { return }
    running.end()
    self.running = nil
  }

  /// Whether there is a person to ask.
  var canAsk: Bool { answers != nil }

  /// Asks a yes-or-no question.
  ///
  /// Anything but yes is no.
  func ask(_ question: String) -> Bool {
    guard let answers else { return false }
    try? errors.write(DisplayText.escaped(question) + " [y/N] ")
    try? errors.flush()
    let answer = answers()?.lowercased()
    return answer == "y" || answer == "yes"
  }

  /// Holds back a line for standard error until the data is written.
  ///
  /// `--quiet` drops it.
  package func note(_ text: String?) {
    if let text, !isQuiet { notes.append(DisplayText.escaped(text)) }
  }

  /// Writes a line to standard error at once, for commands that run until a signal.
  ///
  /// `--quiet` drops it.
  package func noteAtOnce(_ text: String) {
    guard !isQuiet else { return }
    try? errors.write("kvdump: \(DisplayText.escaped(text))\n")
    try? errors.flush()
  }

  /// Writes a failure to standard error at once.
  ///
  /// Silent failures are not written.
  ///
  /// The excerpt is only for people who did not ask for quiet.
  func report(_ failure: CommandFailure) {
    guard !failure.isSilent else { return }
    // If standard error is closed too, nobody can read the failure.
    try? errors.write((errorsAreJSON ? failure.json : failure.line) + "\n")
    if !errorsAreJSON, !isQuiet {
      for line in failure.excerpt { try? errors.write(DisplayText.escaped(line) + "\n") }
    }
    try? errors.flush()
  }

  /// Ends both streams, the data first, and shows the pager.
  ///
  /// The store must already be closed, because a person may keep the pager open for hours.
  func finish() throws {
    // If the end of a stream fails, the failure is reported, and the report calls this function
    // again.
    guard !isFinished else { return }
    isFinished = true
    try output.finish()
    for note in notes { try? errors.write(note + "\n") }
    notes = []
    try? errors.flush()
  }
}
