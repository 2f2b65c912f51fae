import EntityStore

/// Which members the records have, for the schema that is worked out from them.
struct MemberSurvey {
  private(set) var inference: SchemaInference
  /// Where in the first page the records may be, if it is not they that were read.
  private(set) var candidates: [String] = []
  /// The failure of the first record that could not be read.
  private var failure: CommandFailure?
  private let files: [String]
  private let looksForRecords: Bool

  /// - Parameter mapped: the members that `--map` names, which may be paths.
  init(files: [String], looksForRecords: Bool, mapped: [String]) {
    inference = SchemaInference(mapped: mapped)
    self.files = files
    self.looksForRecords = looksForRecords
  }

  /// Looks at pages; none with records is a failure.
  mutating func observe(_ pages: [RecordPage]) throws {
    for page in pages { observe(page) }
    guard inference.recordCount > 0 else { throw failure ?? .noRecordsAtAll(files) }
  }

  /// Reads all pages once, and shows how far it is.
  ///
  /// A malformed one behind good ones ends it: the import itself will come to it and tell.
  mutating func observe(
    all pages: PageReader, of inputs: [InputFile], on console: Console
  ) throws {
    let size = inputs.compactMap(\.size).reduce(0, +)
    var progress = console.progress()
    defer { progress.end() }
    pages.willRead = { [unowned pages] in
      let share = min(Double(pages.bytesRead) / Double(max(size, 1)), 1)
      progress.show("\(Progress.bar(share, width: 22))  \(NumberText.share(share))  to infer from")
    }
    do {
      while let page = try pages.next() { observe(page) }
    } catch let failure as CommandFailure where failure.status == .damagedData {
      guard inference.recordCount > 0 else { throw failure }
    }
    guard inference.recordCount > 0 else { throw failure ?? .noRecordsAtAll(files) }
  }

  private mutating func observe(_ page: RecordPage) {
    if page.number == 1, looksForRecords, let first = page.records.first {
      candidates = RecordPath.candidates(in: first.node)
    }
    if failure == nil, let error = page.error {
      failure = .malformedPage(page.number, file: page.file, reason: "\(error)")
    }
    for record in page.records { inference.observe(record) }
  }

  /// Says that not all was looked at.
  func sampleNote(_ entity: String, pages: Int) -> String {
    "\(entity): inferred from \(NumberText.grouped(inference.recordCount)) records of the first "
      + (pages == 1 ? "page" : "\(NumberText.grouped(pages)) pages")
      + "; others that differ are rejected"
  }
}
