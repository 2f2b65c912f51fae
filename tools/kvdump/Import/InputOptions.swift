import ArgumentParser
import EntityStore

/// What is in the files, and where in them the records are.
struct InputForm: Sendable {
  /// Where a page has its records; nil when the page is the records.
  var records: String?
  /// Under which name records have their keys, where they are the members of an object.
  var keyName: String?
  /// Pages must have the column form.
  var isColumns = false
  /// How all files are read as CSV; nil reads only those so whose names end in `.csv`.
  var csv: CSVOptions?

  /// How the file called `name` is read as CSV; nil when it is none.
  func csv(for name: String) -> CSVOptions? {
    csv
      ?? (records == nil && keyName == nil && !isColumns
        && name.hasSuffix(".csv") ? CSVOptions() : nil)
  }
}

/// Options of `import` about what its files hold.
struct InputOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Where a page has its records: a dotted path such as result or data.results. Without it, "
        + "the page is an array, one record, or a table of 'fields' and 'data'. An array whose "
        + "first element is an array of names has rows behind it.",
      valueName: "path"))
  var records: String?

  @Option(
    help: ArgumentHelp(
      "The records are the members of an object, {\"Ada\": {…}, \"Bob\": {…}}: of the page, or at "
        + "--records. Their keys count as a member of this name, unless a record has one.",
      valueName: "name"))
  var keyName: String?

  @Flag(
    help: """
      Every page is a table that names its columns once, {"fields": […], "data": [[…], …]}, or the \
      import ends there.
      """)
  var columns = false

  @Flag(
    help: """
      The files are CSV (RFC 4180, UTF-8), as those named .csv are. Texts become values of the \
      attributes' types; an empty field is null, "" an empty text.
      """)
  var csv = false

  @Option(
    help: ArgumentHelp(
      "What stands between two fields of CSV: one ASCII character, or tab.", valueName: "character")
  )
  var delimiter: FieldDelimiter?

  @Option(
    help: ArgumentHelp(
      "The names of the columns of CSV whose first row is a record.", valueName: "a,b"))
  var header: NameList?

  @Flag(help: "The first row of CSV is a record; the columns are column1, column2 and so on.")
  var noHeader = false

  @Option(
    help: ArgumentHelp(
      "Rows of CSV with other than as many fields as columns: refuse, fill (null for those that "
        + "are missing), fit (also leaves out what is too much).", valueName: "how"))
  var ragged: RaggedRows?

  @Flag(help: "Leave out lines of CSV with nothing in them.")
  var skipBlankLines = false

  /// `--ragged`.
  enum RaggedRows: String, CaseIterable, ExpressibleByArgument {
    case refuse, fill, fit
  }

  private var isCSV: Bool {
    csv || delimiter != nil || header != nil || noHeader || ragged != nil || skipBlankLines
  }

  func validate() throws {
    let place = records == nil ? "key-name" : "records"
    if isCSV, records != nil || keyName != nil || columns {
      let option = columns ? "columns" : place
      throw ValidationError(
        "--\(option): not together with --csv, whose rows are the records")
    }
    if columns, records != nil || keyName != nil {
      throw ValidationError(
        "--columns: not together with --\(place); the page itself is the table")
    }
    if header != nil, noHeader {
      throw ValidationError("--no-header: not together with --header, which has the names")
    }
  }

  var form: InputForm {
    var form = InputForm(records: records, keyName: keyName, isColumns: columns)
    guard isCSV else { return form }
    var options = CSVOptions()
    if let delimiter { options.delimiter = delimiter.value }
    if let header { options.header = .names(header.names) }
    if noHeader { options.header = .absent }
    options.raggedRows =
      switch ragged {
      case .fill: .fill
      case .fit: .fit
      case .refuse, nil: .refuse
      }
    options.skipsBlankLines = skipBlankLines
    form.csv = options
    return form
  }
}

/// `--delimiter`.
struct FieldDelimiter: ExpressibleByArgument, Equatable, Sendable {
  let value: CSVDelimiter

  init?(argument: String) {
    if argument == "tab" || argument == "\\t" {
      value = .tab
      return
    }
    guard argument.count == 1, let value = argument.first.flatMap({ CSVDelimiter($0) }) else {
      return nil
    }
    self.value = value
  }
}
