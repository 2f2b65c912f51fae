public import LodestoreEssentials

/// The pages of one or more files, for an ``Importer``.
///
///     let pages = FilePages.csv("asteroids.csv", options)
///     let report = try await importer.run(pages, as: Asteroid.self) { $0 }
///
/// A file is opened when its first page is asked for and closed after the last, at an error and
/// when the task is cancelled. Each iteration reads it from its start. Where a file has many pages
/// they are made one at a time, so that memory does not grow with the file. Several files are one
/// import: their pages follow each other in the order of the paths, and each reject has the name of
/// its file.
///
/// Files that gzip has compressed are known by their first bytes and decompressed as they are read.
/// A byte order mark is left out. Text in UTF-16 or UTF-32 is known by its first four bytes, or is
/// CSV whose options say so.
///
/// An importer rejects a line, a row or a value that cannot be read where its end is known, and
/// goes on after it. An iteration without an importer throws the error of the first such record in
/// the place of its page.
///
/// What an iteration throws: ``StoreError/Code/notPermitted`` and ``StoreError/Code/inputOutput``
/// when the file cannot be read, ``StoreError/Code/importStopped`` when its content is not what was
/// said (the cause is a `JSONError`, ``CSVError`` or ``ColumnPageError``), and
/// `CancellationError`.
public struct FilePages: AsyncSequence, Sendable {
  /// The most bytes of a page, and of a file that is one page: 64 MiB.
  public static let pageByteLimit = JSONLimits.standard.bytes

  private let paths: [String]
  private let form: PageCutting.Form

  /// A file that is one JSON text: one page.
  public static func json(_ path: String) -> FilePages { json([path]) }

  /// Files that are one JSON text each: one page for each.
  public static func json(_ paths: [String]) -> FilePages { FilePages(paths: paths, form: .json) }

  /// A file of JSON Lines in which each line is a record; `recordsPerPage` of them make a page.
  ///
  /// A line may also be an array of records, and a line of names, `["a", "b"]`, says that the lines
  /// after it are rows, `[1, 2]`, each a record `{"a": 1, "b": 2}`. A page ends earlier when it
  /// has ``pageByteLimit`` bytes. Blank lines are left out.
  public static func jsonLines(_ path: String, recordsPerPage: Int = 1000) -> FilePages {
    jsonLines([path], recordsPerPage: recordsPerPage)
  }

  /// Files of JSON Lines in which each line is a record; see
  /// ``jsonLines(_:recordsPerPage:)-(String,_)``.
  public static func jsonLines(_ paths: [String], recordsPerPage: Int = 1000) -> FilePages {
    FilePages(paths: paths, form: .jsonLines(recordsPerPage))
  }

  /// A file of JSON values, one after another with or without space between them; `recordsPerPage`
  /// of them make a page.
  ///
  /// Unlike a line, a value may go over many lines, and may be followed by another on the same one:
  /// `{"id": 1}{"id": 2}`. What the values may be is as for
  /// ``jsonLines(_:recordsPerPage:)-(String,_)``.
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

  /// A file of separated values; `recordsPerPage` rows, each an object, make a page.
  public static func csv(
    _ path: String, _ options: CSVOptions = CSVOptions(), recordsPerPage: Int = 1000
  ) -> FilePages {
    csv([path], options, recordsPerPage: recordsPerPage)
  }

  /// Files of separated values, each with the header that the options say.
  public static func csv(
    _ paths: [String], _ options: CSVOptions = CSVOptions(), recordsPerPage: Int = 1000
  ) -> FilePages {
    FilePages(paths: paths, form: .csv(options, recordsPerPage))
  }

  /// A file that is one ``ColumnPage``: that many of its rows, each an object, make a page, or all
  /// of them when no number is given.
  public static func columns(_ path: String, recordsPerPage: Int? = nil) -> FilePages {
    columns([path], recordsPerPage: recordsPerPage)
  }

  /// Files that are one ``ColumnPage`` each: that many rows make a page, or all of a file when no
  /// number is given.
  public static func columns(_ paths: [String], recordsPerPage: Int? = nil) -> FilePages {
    FilePages(paths: paths, form: .columns(recordsPerPage ?? Int.max))
  }

  /// Begins at the start of the first file.
  @_documentation(visibility: internal)
  public func makeAsyncIterator() -> Iterator { Iterator(pages: PageFiles(paths, form)) }

  /// Reads the files a page at a time.
  @_documentation(visibility: internal)
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let pages: PageFiles

    /// The next page, or `nil` after the last and after an error.
    @_documentation(visibility: internal)
    public mutating func next() async throws -> Data? {
      guard let page = try pages.next() else { return nil }
      if let error = page.cutError ?? page.places.unreadable.first?.error {
        throw pages.end(error)
      }
      return page.content
    }
  }

  /// Whether the values of the pages are texts, unless the options say otherwise of a column.
  var hasTextsAlone: Bool { form.isCSV }

  /// The pages with the records that could not be read, for an importer.
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
