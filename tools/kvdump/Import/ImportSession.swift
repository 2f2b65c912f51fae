import EntityStore

/// One import with its progress and its result for the user.
struct ImportSession {
  let importing: DynamicImport
  private let pages: PageReader
  private let size: Int?
  let rejectFile: RejectFile?
  let watch: ImportWatch
  /// The names of attributes without a source name.
  let sourceless: Set<String>

  init(
    _ importing: DynamicImport, _ pages: PageReader, _ inputs: [InputFile],
    _ rejectFile: RejectFile?, sourceless: Set<String> = []
  ) {
    self.importing = importing
    self.sourceless = sourceless
    self.pages = pages
    self.rejectFile = rejectFile
    let sizes = inputs.compactMap(\.size)
    size = sizes.count == inputs.count ? sizes.reduce(0, +) : nil
    watch = ImportWatch(rejectFile)
  }

  /// The result of an import, even of one that ended early.
  struct Result {
    /// The report of the committed pages; `nil` if the import did not begin.
    var report: ImportReport?
    /// The reason for an early end.
    var failure: (any Error)?
  }

  /// Imports all pages and shows the progress.
  ///
  /// The method never throws, because the committed pages must be reported in any case.
  func run(on console: Console) async -> Result {
    let progress = console.progress()
    pages.willRead = { [unowned pages, watch, size] in
      let share = size.map { Double(pages.bytesRead) / Double(max($0, 1)) }
      progress.show(Self.line(watch.progress, share: share))
    }
    pages.check = { [rejectFile] in try rejectFile?.check() }
    let last = reports().last
    var result = Result()
    do {
      result.report = try await importing.run(pages) { [watch] in watch.take($0) }
    } catch {
      result = Result(report: report(after: last), failure: error)
    }
    progress.end()
    rejectFile?.flush()
    do {
      try rejectFile?.check()
    } catch {
      result.failure = result.failure ?? error
    }
    return result
  }

  /// The stored report of this run, which ended early.
  ///
  /// - Parameter last: The newest report before this run. Another import with this name may have
  ///   begun since.
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

  /// The progress as "[####......]  42 %  12,000 records, 3,400/s, 1.2 MB/s, 3 rejected".
  static func line(_ progress: ImportProgress, share: Double?) -> String {
    var text = share.map { Progress.text(min($0, 1)) + "  " } ?? ""
    text += "\(NumberText.grouped(progress.records)) records"
    if progress.seconds > 0, progress.recordsPerSecond.isFinite {
      let megabytes = Double(progress.bytes) / progress.seconds / 1e6
      text += ", \(NumberText.grouped(Int(progress.recordsPerSecond)))/s, "
      text += "\((megabytes * 10).rounded() / 10) MB/s"
    }
    if progress.rejected > 0 { text += ", \(NumberText.grouped(progress.rejected)) rejected" }
    return text
  }
}

extension DynamicImport {
  /// Adds to each reject the options of `import` that would accept the value.
  mutating func nameOptionsInHints() {
    hint = { attribute in
      switch attribute.type {
      case .date: "--type \(attribute.name)=date:FORMAT reads other forms"
      // The value may be a key of another record, as 'export --links' writes it.
      case .recordID:
        "--type \(attribute.name)=id reads numbers in texts, and --links reads keys once a "
          + "program has opened the store and declared the relationship"
      default: "--type \(attribute.name)=\(attribute.type.name) reads texts"
      }
    }
    textHint = { attribute in
      attribute.type == .date
        ? "--type \(attribute.name)=date:FORMAT reads other forms"
        : "--null-value TEXT reads a text as null, and --infer --map COLUMN=NAME imports the column "
          + "into another attribute"
    }
  }
}

extension PageReader: AsyncSequence {
  struct AsyncIterator: AsyncIteratorProtocol {
    let reader: PageReader

    mutating func next() async throws -> DynamicPage? { try reader.next()?.content }
  }

  nonisolated func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reader: self) }
}
