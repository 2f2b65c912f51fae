/// How a text of separated values is read.
///
///     var options = CSVOptions()
///     options.delimiter = .semicolon
///     options.types = ["mass": .number, "isActive": .boolean]
public struct CSVOptions: Sendable, Hashable {
  /// Where the names of the columns come from.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Header: Sendable, Hashable {
    /// The first row.
    case firstRow
    /// The caller: every row is data.
    case names([String])
    /// Nowhere: every row is data, the first says how many fields the others have, and a page is an
    /// array of arrays.
    case absent
  }

  /// How a row is read that has another number of fields than there are columns.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum RaggedRows: Sendable, Hashable {
    /// The row is an error.
    case refuse
    /// The fields that a short row lacks are null; a long row is an error.
    case fill
    /// The fields that a short row lacks are null; of a long row the last fields are left out.
    case fit
  }

  /// The type that the values of a column have in a page.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum ColumnType: String, Sendable, Hashable {
    /// A string, as it stands there: `007` keeps its zeros.
    case text
    /// An integer of 64 bits: digits, with or without a minus.
    case integer
    /// A number as JSON spells it, zeros in front allowed, or as `.5`; its digits are kept.
    case number
    /// `true` and `false` in any case of letters, `1` and `0`.
    case boolean
  }

  /// The character between two fields.
  public var delimiter = CSVDelimiter.comma
  /// The character around a field that has delimiters, line ends or quotes in it.
  ///
  /// Inside the field it
  /// is doubled. With `nil` no field is quoted, and quotes are characters like others.
  public var quote: CSVCharacter? = .doubleQuote
  /// The character that takes the meaning from the next one, in quotes and outside; `nil` for none.
  ///
  /// Behind a backslash `n`, `r`, `t`, `b`, `f`, `v` and `0` are the control characters that they
  /// are in C, and a field that is `\N` alone is null, as databases write their tables.
  public var escape: CSVCharacter?
  /// Texts of fields that are null, in addition to the empty one, such as `NA` and `\N`: as they
  /// stand in the text, and only without quotes.
  public var nullValues: Set<String> = []
  /// How characters are encoded; positions in errors and rejects are those of the text as UTF-8.
  public var encoding = TextEncoding.automatic
  /// Lines at the beginning that are left out, before the one with the names of the columns.
  public var skippedLines = 0
  /// The character that begins a line to leave out; `nil` for none.
  public var comment: CSVCharacter?
  /// Where the names of the columns come from.
  public var header = Header.firstRow
  /// How a row of another length is read.
  public var raggedRows = RaggedRows.refuse
  /// Whether lines with nothing in them are left out; else each is a row of one empty field.
  public var skipsBlankLines = false
  /// The columns that are not text, by name.
  ///
  /// A field that is not of its column's type is an error of its row, which an importer rejects.
  public var types: [String: ColumnType] = [:]
  /// The sizes that are refused.
  public var limits = CSVLimits()

  /// RFC 4180: commas, quotes, a header, every row as long as the header, all of it text.
  public init() {}
}

/// Limits of a text of separated values, so that memory is bounded.
public struct CSVLimits: Sendable, Hashable {
  /// Bytes of one field, doubled quotes counted twice.
  public var field = 64 << 20
  /// Bytes of one row, with its delimiters, quotes and line end.
  public var row = 64 << 20
  /// Bytes of one page; rows that do not fit go into the next.
  public var page = JSONLimits.standard.bytes
  /// Fields of one row.
  public var columns = 1 << 16

  /// 64 MiB for a field, a row and a page, and 65,536 columns.
  public init() {}
}

/// The one ASCII character between two fields.
public struct CSVDelimiter: Sendable, Hashable {
  let byte: UInt8
  package var character: CSVCharacter { CSVCharacter(byte: byte) }

  /// The comma, `,`.
  public static let comma = CSVDelimiter(byte: 0x2C)
  /// The semicolon, `;`.
  public static let semicolon = CSVDelimiter(byte: 0x3B)
  /// The tabulator.
  public static let tab = CSVDelimiter(byte: 0x09)
  /// The vertical bar, `|`.
  public static let bar = CSVDelimiter(byte: 0x7C)

  /// Another character; `nil` for a quote, a line end and anything beyond ASCII.
  public init?(_ character: Character) {
    // Swift counts CR LF as one character with an ASCII value.
    guard character.unicodeScalars.count == 1, let byte = character.asciiValue,
      byte != 0x22, byte != 0x0A, byte != 0x0D
    else { return nil }
    self.init(byte: byte)
  }

  private init(byte: UInt8) { self.byte = byte }
}
