public import LodestoreEssentials

/// The pages of one or more files, for an ``Importer``.
///
///     let pages = FilePages.csv("asteroids.csv", options)
///     let report = try await importer.run(pages, as: Asteroid.self) { $0 }
///
/// A file is opened when its first page is requested, and closed after the last page, at an error
/// and when the task is cancelled. Each iteration reads the file from its start. The pages of a
/// file are created one at a time, so that memory does not grow with the file. Several files form
/// one import: their pages follow each other in the order of the paths, and each reject contains
/// the name of its file.
///
/// Files compressed by gzip are recognized by their first bytes and decompressed while reading. A
/// byte order mark is skipped. Text in UTF-16 or UTF-32 is recognized by its first four bytes; for
/// CSV the options can specify the encoding.
///
/// An importer rejects a line, row or value that cannot be read, when its end is known, and
/// continues after it. An iteration without an importer throws the error of the first such record
/// instead of its page.
///
/// An iteration throws these errors:
/// - ``StoreError/Code/notPermitted`` and ``StoreError/Code/inputOutput`` when the file cannot be
///   read;
/// - ``StoreError/Code/importStopped`` when its content does not have the declared form, with a
///   `JSONError`, ``CSVError`` or ``ColumnPageError`` as its cause;
/// - `CancellationError`.
public struct FilePages: AsyncSequence, Sendable {
  /// The maximum bytes of a page, and of a file that is one page: 64 MiB.
  public static let pageByteLimit = JSONLimits.standard.bytes

  private let paths: [String]
  private let form: PageCutting.Form

  /// A file with one JSON text, which is one page.
  public static func json(_ path: String) -> FilePages { json([path]) }

  /// Files with one JSON text each; each file is one page.
  public static func json(_ paths: [String]) -> FilePages { FilePages(paths: paths, form: .json) }

  /// A file of JSON Lines in which each line is a record; `recordsPerPage` lines form a page.
  ///
  /// A line may also be an array of records. A first line of names, `["a", "b"]`, declares that the
  /// following lines are rows: `[1, 2]` is the record `{"a": 1, "b": 2}`. A page ends earlier when
  /// it has ``pageByteLimit`` bytes. Blank lines are skipped.
  public static func jsonLines(_ path: String, recordsPerPage: Int = 1000) -> FilePages {
    jsonLines([path], recordsPerPage: recordsPerPage)
  }

  /// Files of JSON Lines in which each line is a record; see
  /// ``jsonLines(_:recordsPerPage:)-(String,_)``.
  public static func jsonLines(_ paths: [String], recordsPerPage: Int = 1000) -> FilePages {
    FilePages(paths: paths, form: .jsonLines(recordsPerPage))
  }

  /// A file of JSON values, with or without space between them; `recordsPerPage` values form a
  /// page.
  ///
  /// A value may extend over many lines, and several values may be on one line: `{"id": 1}{"id":
  /// 2}`. The rules for the values are those of ``jsonLines(_:recordsPerPage:)-(String,_)``.
  public static func jsonValues(_ path: String, recordsPerPage: Int = 1000) -> FilePages {
    jsonValues([path], recordsPerPage: recordsPerPage)
  }

  /// Files of JSON values; see ``jsonValues(_:recordsPerPage:)-(String,_)``.
  public static func jsonValues(_ paths: [String], recordsPerPage: Int = 1000) -> FilePages {
    FilePages(paths: paths, form: .jsonValues(recordsPerPage))
  }

  /// A file of JSON Lines in which each line is a page of a web service.
  public static func pagePerLine(_ path: String) -> FilePages { pagePerLine([path]) }

  /// Files of JSON Lines in which each line is a page of a web service.
  public static func pagePerLine(_ paths: [String]) -> FilePages {
    FilePages(paths: paths, form: .pagePerLine)
  }

  /// A file of separated values; `recordsPerPage` rows, each an object, form a page.
  public static func csv(
    _ path: String, _ options: CSVOptions = CSVOptions(), recordsPerPage: Int = 1000
  ) -> FilePages {
    csv([path], options, recordsPerPage: recordsPerPage)
  }

  /// Files of separated values, each with the header that the options require.
  public static func csv(
    _ paths: [String], _ options: CSVOptions = CSVOptions(), recordsPerPage: Int = 1000
  ) -> FilePages {
    FilePages(paths: paths, form: .csv(options, recordsPerPage))
  }

  /// A file that is one ``ColumnPage``; `recordsPerPage` of its rows, each an object, form a page.
  ///
  /// Without a number, all rows form one page.
  public static func columns(_ path: String, recordsPerPage: Int? = nil) -> FilePages {
    columns([path], recordsPerPage: recordsPerPage)
  }

  /// Files that are one ``ColumnPage`` each; `recordsPerPage` rows form a page.
  ///
  /// Without a number, all rows of a file form one page.
  public static func columns(_ paths: [String], recordsPerPage: Int? = nil) -> FilePages {
    FilePages(paths: paths, form: .columns(recordsPerPage ?? Int.max))
  }

  /// Begins at the start of the first file.
  @_documentation(visibility: internal)
  public func makeAsyncIterator() -> Iterator { Iterator(pages: PageFiles(paths, form)) }

  /// Reads the files one page at a time.
  @_documentation(visibility: internal)
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let pages: PageFiles

    /// The next page, or `nil` after the last and after an error.
    @_documentation(visibility: internal)
    public mutating func next() async throws -> Data? {
      guard let page = try pages.next() else { return nil }
      if let error = page.cutError ?? page.places.unreadable.first?.error { throw pages.end(error) }
      return page.content
    }
  }

  /// Whether the values of the pages are texts, unless the options give a column another type.
  var hasTextsAlone: Bool { form.isCSV }

  /// The pages with their unreadable records, for an importer.
  var cutPages: CutPages { CutPages(paths: paths, form: form) }

  struct CutPages: AsyncSequence {
    fileprivate let paths: [String]
    fileprivate let form: PageCutting.Form

    func makeAsyncIterator() -> Iterator { Iterator(pages: PageFiles(paths, form)) }

    struct Iterator: AsyncIteratorProtocol {
      fileprivate let pages: PageFiles

      mutating func next() async throws -> CutPage? { try pages.next() }
    }
  }
}
