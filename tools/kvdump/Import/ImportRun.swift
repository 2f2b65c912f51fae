import EntityStore

/// Writes pages into an entity through the importer that programs use.
struct ImportRun: Sendable {
  private(set) var importing: DynamicImport

  init(_ importing: DynamicImport) {
    self.importing = importing
    self.importing.hint = { attribute in
      switch attribute.type {
      case .date: "--type \(attribute.name)=date:FORMAT reads other forms"
      // A key of another record, as 'export --links' writes it.
      case .recordID:
        "--type \(attribute.name)=id reads numbers in texts, and --links reads keys once a program has "
          + "opened the store and declared the relationship"
      default: "--type \(attribute.name)=\(attribute.type.name) reads texts"
      }
    }
    self.importing.textHint = { attribute in
      attribute.type == .date
        ? "--type \(attribute.name)=date:FORMAT reads other forms"
        : "--null-value TEXT reads a text as null, and --infer --map COLUMN=NAME takes the column "
          + "into another attribute"
    }
  }

  /// The result of an import, also of one that ended early.
  struct Result {
    /// The report of the committed pages; nil when the import did not begin.
    var report: ImportReport?
    /// Why it ended early.
    var failure: (any Error)?
  }

  /// Imports all pages.
  ///
  /// Never throws: the committed pages are to be reported in any case.
  ///
  /// - Parameter check: called before each page; an error that it throws ends the import.
  func run(
    _ pages: PageReader, check: @escaping () throws -> Void,
    onEvent: @escaping @Sendable (ImportEvent) -> Void
  ) async -> Result {
    let last = reports().last
    do {
      pages.check = check
      let report = try await importing.run(pages, onEvent: onEvent)
      return Result(report: report)
    } catch {
      return Result(report: report(after: last), failure: error)
    }
  }

  /// The stored report of this run, which ended early.
  ///
  /// - Parameter last: the newest report before this run. Another import of this name may have begun since.
  private func report(after last: ImportReport?) -> ImportReport? {
    reports().first { report in
      guard let last else { return true }
      return report.run == last.run ? report.resumptions > last.resumptions : report.run > last.run
    }
  }

  private func reports() -> [ImportReport] {
    let name = importing.options.name ?? importing.entity
    return (try? importing.store.read { try $0.importReports(of: name) }) ?? []
  }
}

extension PageReader: AsyncSequence {
  struct AsyncIterator: AsyncIteratorProtocol {
    let reader: PageReader

    mutating func next() async throws -> DynamicPage? { try reader.next()?.content }
  }

  nonisolated func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reader: self) }
}
