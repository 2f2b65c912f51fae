/// Options for reading a text of separated values.
///
///     var options = CSVOptions()
///     options.delimiter = .semicolon
///     options.types = ["mass": .number, "isActive": .boolean]
public struct CSVOptions: Sendable, Hashable {
  /// The source of the column names.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Header: Sendable, Hashable {
    /// The first row contains the names.
    case firstRow
    /// The caller passes the names; every row is data.
    case names([String])
    /// There are no names, and every row is data.
    ///
    /// The first row determines the number of fields. A page is an array of arrays.
    case absent
  }

  /// The treatment of a row whose number of fields differs from the number of columns.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum RaggedRows: Sendable, Hashable {
    /// The row is an error.
    case refuse
    /// The missing fields of a short row are null; a long row is an error.
    case fill
    /// The missing fields of a short row are null; the surplus fields of a long row are left out.
    case fit
  }

  /// The type that values of a column have in a page.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum ColumnType: String, Sendable, Hashable {
    /// A string with unchanged characters: `007` keeps its zeros.
    case text
    /// An integer of 64 bits: digits, with or without a minus sign.
    case integer
    /// A number as in JSON, also with leading zeros or as `.5`; its digits are kept.
    case number
    /// A Boolean: `true` or `false` in upper or lower case, `1` or `0`.
    case boolean
  }

  /// The character between two fields.
  public var delimiter = CSVDelimiter.comma
  /// The character around a field that contains delimiters, line ends or quotes.
  ///
  /// Inside the field the character is doubled. With `nil` no field is quoted, and quotes are
  /// ordinary characters.
  public var quote: CSVCharacter? = .doubleQuote
  /// The character that makes the next character literal, inside and outside quotes; `nil` for
  /// none.
  ///
  /// With a backslash, `n`, `r`, `t`, `b`, `f`, `v` and `0` after it are control characters, as in
  /// C. A field that consists of `\N` is null, as in database exports.
  public var escape: CSVCharacter?
  /// The texts that stand for null, in addition to the empty text, such as `NA` and `\N`.
  ///
  /// The source text of a field is compared without resolving escapes; a quoted field is never
  /// null.
  public var nullValues: Set<String> = []
  /// The encoding of characters; positions in errors and rejects refer to the text as UTF-8.
  public var encoding = TextEncoding.automatic
  /// The number of lines to skip at the beginning, before the row of column names.
  public var skippedLines = 0
  /// The character that begins a line to skip; `nil` for none.
  public var comment: CSVCharacter?
  /// The source of the column names.
  public var header = Header.firstRow
  /// The treatment of a row with another number of fields.
  public var raggedRows = RaggedRows.refuse
  /// Whether empty lines are skipped; otherwise each is a row with one empty field.
  public var skipsBlankLines = false
  /// The types of columns that are not text, by column name.
  ///
  /// A field that does not fit its column's type is an error of its row, which an importer rejects.
  public var types: [String: ColumnType] = [:]
  /// The size limits.
  public var limits = CSVLimits()

  /// Creates the options of RFC 4180: commas, quotes, a header, equally long rows and only text.
  public init() {}
}

/// Limits for a text of separated values, which bound the memory.
public struct CSVLimits: Sendable, Hashable {
  /// The maximum bytes of one field; doubled quotes count twice.
  public var field = 64 << 20
  /// The maximum bytes of one row, with its delimiters, quotes and line end.
  public var row = 64 << 20
  /// The maximum bytes of one page; rows beyond it go into the next page.
  public var page = JSONLimits.standard.bytes
  /// The maximum number of fields of one row.
  public var columns = 1 << 16

  /// Creates the default limits: 64 MiB for a field, a row and a page, and 65,536 columns.
  public init() {}
}

/// The ASCII character between two fields.
public struct CSVDelimiter: Sendable, Hashable {
  let byte: UInt8
  package var character: CSVCharacter { CSVCharacter(byte: byte) }

  /// The comma, `,`.
  public static let comma = CSVDelimiter(byte: 0x2C)
  /// The semicolon, `;`.
  public static let semicolon = CSVDelimiter(byte: 0x3B)
  /// The tab character.
  public static let tab = CSVDelimiter(byte: 0x09)
  /// The vertical bar, `|`.
  public static let bar = CSVDelimiter(byte: 0x7C)

  /// Creates another delimiter; `nil` for a quote, a line end and a character beyond ASCII.
  public init?(_ character: Character) {
    // Swift treats CR LF as one character with an ASCII value, so the number of scalars is checked
    // too.
    guard character.unicodeScalars.count == 1, let byte = character.asciiValue,
      byte != 0x22, byte != 0x0A, byte != 0x0D
    else { return nil }
    self.init(byte: byte)
  }

  private init(byte: UInt8) { self.byte = byte }
}
