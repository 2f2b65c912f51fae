#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The pages of a file, for an ``Importer``.
///
///     let pages = FilePages.csv("asteroids.csv", options)
///     let report = try await importer.run(pages, as: Asteroid.self) { $0 }
///
/// The file is opened when the first page is asked for and closed behind the last, at an error and when
/// the task is cancelled. Each iteration reads it from its start. Where a file has many pages they
/// are made one at a time, so that memory does not grow with the file.
///
/// What an iteration throws: ``StoreError/Code/notPermitted`` and ``StoreError/Code/inputOutput``
/// when the file cannot be read, ``StoreError/Code/importStopped`` when its content is not what was
/// said (the cause is a `JSONError`, ``CSVError`` or ``ColumnPageError``), and
/// `CancellationError`.
public struct FilePages: AsyncSequence, Sendable {
  /// The most bytes of a page, and of a file that is one page: 64 MiB.
  public static let pageByteLimit = JSONLimits.standard.bytes

  private let path: String
  private let form: PageCutting.Form

  /// A file that is one JSON text: one page.
  public static func json(_ path: String) -> FilePages { FilePages(path: path, form: .json) }

  /// A file of JSON Lines in which each line is a record: so many of them make a page.
  ///
  /// A line may also be an array of records, and a line of names, `["a", "b"]`, says that the lines
  /// behind it are rows, `[1, 2]`, each a record `{"a": 1, "b": 2}`. A page ends earlier when it
  /// has ``pageByteLimit`` bytes. Blank lines are left out.
  public static func jsonLines(_ path: String, recordsPerPage: Int = 1000) -> FilePages {
    FilePages(path: path, form: .jsonLines(recordsPerPage))
  }

  /// A file of JSON Lines in which each line is a page of a web service.
  public static func pagePerLine(_ path: String) -> FilePages {
    FilePages(path: path, form: .pagePerLine)
  }

  /// A file of separated values: so many rows, each an object, make a page.
  public static func csv(
    _ path: String, _ options: CSVOptions = CSVOptions(), recordsPerPage: Int = 1000
  ) -> FilePages {
    FilePages(path: path, form: .csv(options, recordsPerPage))
  }

  /// A file that is one ``ColumnPage``: so many of its rows, each an object, make a page, or all
  /// of them when no number is given.
  public static func columns(_ path: String, recordsPerPage: Int? = nil) -> FilePages {
    FilePages(path: path, form: .columns(recordsPerPage ?? Int.max))
  }

  /// Begins at the start of the file.
  @_documentation(visibility: internal)
  public func makeAsyncIterator() -> Iterator { Iterator(PageFile(path, form)) }

  /// Reads a file a page at a time.
  @_documentation(visibility: internal)
  public struct Iterator: AsyncIteratorProtocol {
    private let file: PageFile

    fileprivate init(_ file: PageFile) { self.file = file }

    /// The next page, or `nil` behind the last and after an error.
    @_documentation(visibility: internal)
    public mutating func next() async throws -> Data? { try file.next() }
  }
}
