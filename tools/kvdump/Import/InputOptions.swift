import ArgumentParser
import EntityStore

/// The form of the files, and the place of the records in them.
struct InputForm: Sendable {
  /// The path of the records in a page; `nil` if the page itself is the records.
  var records: String?
  /// The name under which records get their keys, if they are the members of an object.
  var keyName: String?
  /// Whether pages must have the column form.
  var isColumns = false
  /// The options with which all files are read as CSV; `nil` to read only files named `.csv` or
  /// `.tsv` as CSV.
  var csv: CSVOptions?
  /// Texts that mean null in CSV, in addition to the empty field.
  var nullValues: [String] = []
  /// Whether the user gave the delimiter.
  var hasDelimiter = false

  /// The options for reading the file called `name` as CSV; `nil` if it is not CSV.
  ///
  /// Files named .tsv have tabs, unless the user gave another delimiter.
  func csv(for name: String) -> CSVOptions? {
    let isTabbed = name.hasSuffix(".tsv")
    let isNamed =
      records == nil && keyName == nil && !isColumns && (isTabbed || name.hasSuffix(".csv"))
    guard var options = csv ?? (isNamed ? CSVOptions() : nil) else { return nil }
    options.nullValues = Set(nullValues)
    if isTabbed, !hasDelimiter { options.delimiter = .tab }
    return options
  }
}

/// Options of `import` about the content of its files.
struct InputOptions: ParsableArguments {
  @Option(
    help: .value(
      "The place of the records in a page: a dotted path such as result or data.results, or the "
        + "table of a SQLite database. Without it, the page is an array, one record, or a table of "
        + "'fields' and 'data'. If the first element of an array is an array of names, the other "
        + "elements are rows.", "path"))
  var records: String?

  @Option(
    help: .value(
      "The records are the members of an object, {\"Ada\": {…}, \"Bob\": {…}}: of the page, or at "
        + "--records. Each key becomes a member of this name, unless the record has one.", "name"))
  var keyName: String?

  @Flag(
    help: """
      Require every page to be a table that names its columns once, {"fields": […], "data": \
      [[…], …]}. Any other page ends the import.
      """)
  var columns = false

  @Flag(
    help: """
      Read all files as CSV (RFC 4180), as files named .csv, .tsv, .csv.gz and .tsv.gz always are. \
      Texts become values of the attributes' types; an empty field is null, "" an empty text.
      """)
  var csv = false

  @Option(
    help: .value(
      "The delimiter between two fields of CSV: one ASCII character, or tab.", "character"))
  var delimiter: CSVDelimiter?

  @Option(
    help: .value(
      "The quote around a field of CSV with delimiters or line ends in it: one ASCII character, or "
        + "none if quotes have no special meaning.", "character"))
  var quote: FieldQuote?

  @Option(
    help: .value(
      "The escape character in CSV, usually a backslash: one ASCII character. It removes the "
        + "special meaning of the next character. After a backslash n, r and t are line feed, "
        + "carriage return and tab, and a field of only \\N is null.", "character"))
  var escape: CSVCharacter?

  @Option(
    help: .value(
      "The encoding of CSV: utf-8, utf-16le, utf-16be, latin-1 or windows-1252. Without it, the "
        + "first four bytes decide between UTF-8, UTF-16 and UTF-32.", "name"))
  var encoding: TextEncoding?

  @Option(help: .value("Skip this many lines at the beginning of CSV.", "n")) var skip: Int?

  @Option(
    help: .value(
      "Skip lines of CSV that begin with this ASCII character, usually #.", "character"))
  var comment: CSVCharacter?

  @Option(help: .value("The column names of CSV whose first row is a record.", "a,b"))
  var header: NameList?

  @Flag(help: "The first row of CSV is a record; the columns are column1, column2 and so on.")
  var noHeader = false

  @Option(
    help: .value(
      "Rows of CSV with a number of fields other than that of the columns: refuse them, fill "
        + "missing fields with null, or fit them (also drops surplus fields).", "how"))
  var ragged: RaggedRows?

  @Flag(help: "Skip empty lines of CSV.") var skipBlankLines = false

  /// The values of `--ragged`.
  enum RaggedRows: String, CaseIterable, ExpressibleByArgument {
    case refuse, fill, fit
  }

  private var isCSV: Bool {
    csv || delimiter != nil || header != nil || noHeader || ragged != nil || skipBlankLines
      || quote != nil || escape != nil || encoding != nil || skip != nil || comment != nil
  }

  /// Whether any of the options is given.
  var isGiven: Bool { isCSV || records != nil || keyName != nil || columns }

  func validate() throws {
    if let skip, skip < 0 { throw ValidationError("--skip: \(skip) is below 0") }
    let quoteCharacter = quote.map(\.value) ?? .doubleQuote
    let characters: [(option: String, character: CSVCharacter?)] = [
      ("delimiter", (delimiter ?? .comma).character),
      ("quote", quoteCharacter), ("comment", comment),
      ("escape", escape == quoteCharacter ? nil : escape),
    ]
    for (number, one) in characters.enumerated() {
      guard let character = one.character,
        let other = characters[..<number].first(where: { $0.character == character })
      else { continue }
      throw ValidationError(
        "--\(one.option): the same character as --\(other.option); use another for one of them")
    }
    let place = records == nil ? "key-name" : "records"
    let option = columns ? "columns" : place
    try refuse(
      if: isCSV && (records != nil || keyName != nil || columns),
      "--\(option): not together with --csv, whose rows are the records")
    try refuse(
      if: columns && (records != nil || keyName != nil),
      "--columns: not together with --\(place); the page itself is the table")
    try refuse(
      if: header != nil && noHeader, "--no-header: not together with --header, which has the names")
  }

  /// The form of the files.
  ///
  /// - Parameter nullValues: The texts that mean null in CSV.
  func form(nullValues: [String]) -> InputForm {
    var form = InputForm(records: records, keyName: keyName, isColumns: columns)
    form.nullValues = nullValues
    guard isCSV else { return form }
    form.hasDelimiter = delimiter != nil
    var options = CSVOptions()
    if let delimiter { options.delimiter = delimiter }
    if let quote { options.quote = quote.value }
    options.escape = escape
    options.comment = comment
    options.skippedLines = skip ?? 0
    options.encoding = encoding ?? .automatic
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

/// The values of `--escape` and `--comment`.
extension CSVCharacter: ExpressibleByArgument {
  /// Makes the character from an argument of one character; fails for other arguments.
  public init?(argument: String) {
    guard argument.count == 1, let character = argument.first else { return nil }
    self.init(character)
  }
}

/// The values of `--quote`.
struct FieldQuote: ExpressibleByArgument, Equatable, Sendable {
  /// The quote; `nil` for none.
  let value: CSVCharacter?

  init?(argument: String) {
    value = CSVCharacter(argument: argument)
    if value == nil, argument != "none", !argument.isEmpty { return nil }
  }
}

/// The values of `--encoding`.
extension TextEncoding: ExpressibleByArgument {
  private static let names: [String: TextEncoding] = [
    "utf-8": .utf8, "utf8": .utf8, "utf-16": .automatic, "utf-16le": .utf16LittleEndian,
    "utf-16be": .utf16BigEndian, "latin-1": .latin1, "latin1": .latin1, "iso-8859-1": .latin1,
    "windows-1252": .windows1252, "cp1252": .windows1252,
  ]

  /// The names to choose from.
  public static var allValueStrings: [String] {
    ["utf-8", "utf-16le", "utf-16be", "latin-1", "windows-1252"]
  }

  /// The encoding of a name, ignoring case.
  public init?(argument: String) {
    guard let value = Self.names[argument.lowercased()] else { return nil }
    self = value
  }
}

/// The values of `--delimiter`.
extension CSVDelimiter: ExpressibleByArgument {
  /// Makes the delimiter from `tab`, `\t` or an argument of one character; fails for other
  /// arguments.
  public init?(argument: String) {
    if argument == "tab" || argument == "\\t" {
      self = .tab
      return
    }
    guard argument.count == 1, let character = argument.first else { return nil }
    self.init(character)
  }
}
