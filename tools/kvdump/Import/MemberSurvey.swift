import EntityStore

/// The members of the records, for inferring a schema.
struct MemberSurvey {
  private(set) var inference: SchemaInference
  /// Paths in the first page where the records may be, if the values read are not records.
  private(set) var candidates: [String] = []
  /// The failure of the first unreadable record.
  private var failure: CommandFailure?
  /// The failure of the first value that is not a record.
  ///
  /// An import rejects only that value.
  private(set) var otherValue: CommandFailure?
  private let entity: String
  private let looksForRecords: Bool

  /// - Parameters:
  ///   - mapped: The members that `--map` names, which may be paths.
  ///   - readsTexts: Whether columns of separated values get types by their texts.
  ///   - stored: The number of attributes of the entity in the store or in a schema file.
  init(
    of entity: String, looksForRecords: Bool, mapped: [String], readsTexts: Bool = true,
    stored: Int = 0
  ) {
    inference = SchemaInference(mapped: mapped, readsTexts: readsTexts, stored: stored)
    self.entity = entity
    self.looksForRecords = looksForRecords
  }

  /// Adds pages to the survey.
  mutating func observe(_ pages: [RecordPage]) throws {
    for page in pages { try observe(page) }
    if inference.recordCount == 0, let failure { throw failure }
  }

  /// Reads all pages once and shows the progress.
  ///
  /// A malformed page after readable pages ends the survey. The import itself reports the page.
  mutating func observe(all pages: PageReader, of inputs: [InputFile], on console: Console) throws {
    let size = inputs.compactMap(\.size).reduce(0, +)
    let progress = console.progress()
    defer { progress.end() }
    pages.willRead = { [unowned pages] in
      let share = min(Double(pages.bytesRead) / Double(max(size, 1)), 1)
      progress.show("\(Progress.text(share))  to infer from")
    }
    do {
      while let page = try pages.next() { try observe(page) }
    } catch let failure as CommandFailure where failure.status == .damagedData {
      guard inference.recordCount > 0 else { throw failure }
    }
    if inference.recordCount == 0, let failure { throw failure }
  }

  private mutating func observe(_ page: RecordPage) throws {
    if page.number == 1, looksForRecords, let first = page.records.first {
      candidates = RecordPath.candidates(in: first.node)
    }
    if failure == nil, let error = page.error {
      failure = .malformedPage(page.number, file: page.file, reason: "\(error)")
    }
    for record in page.records {
      do {
        try inference.observe(record, isOfTexts: page.content.isText)
      } catch {
        throw CommandFailure.tooManyMembers(of: entity, file: page.file, page: page.number)
      }
      if otherValue == nil, let reason = inference.rejection {
        otherValue = .malformedPage(page.number, file: page.file, reason: reason)
      }
    }
  }

  /// A note if only a sample was read, or if types come from texts; otherwise `nil`.
  ///
  /// - Parameter pages: The number of pages in a sample; `nil` if all were read.
  func note(sample pages: Int?) -> String? {
    let records = NumberText.grouped(inference.recordCount)
    guard let pages else {
      guard inference.hasReadTexts else { return nil }
      return
        "\(entity): inferred types from the texts of all \(records) rows; --all-text keeps texts"
    }
    return "\(entity): inferred from \(records) records of the first "
      + (pages == 1 ? "page" : "\(NumberText.grouped(pages)) pages")
      + "; others that differ are rejected"
      + (inference.hasReadTexts ? "; --all-text keeps the texts of columns" : "")
  }
}
