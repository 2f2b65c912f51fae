internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// Imports decoded pages into an entity; shared by ``Importer`` and ``DynamicImport``.
struct ImportEngine: Sendable {
  let core: StoreCore
  /// Returns the entity as of a transaction; throws when it differs from the one the pages are
  /// decoded for.
  let entity: @Sendable (TransactionCore) throws(StoreError) -> StoredEntity
  /// The attributes of the unique index by which records are matched; `nil` inserts every record.
  let key: Set<UInt32>?
  let rule: MergeRule
  let strategy: ImportStrategy
  let options: ImportOptions
  let entityName: String
  /// A text that identifies how records are created from pages.
  ///
  /// An import with another text does not use the pages that this import has remembered.
  let transformation: String
  /// The links from members of records to other records.
  let links: [ImportedLink]

  init(
    core: StoreCore, entityName: String,
    entity: @escaping @Sendable (TransactionCore) throws(StoreError) -> StoredEntity,
    key: Set<UInt32>?, rule: MergeRule, strategy: ImportStrategy, options: ImportOptions,
    transformation: String = "", links: [ImportedLink] = []
  ) {
    self.links = links
    self.core = core
    self.entityName = entityName
    self.entity = entity
    self.key = key
    self.rule = strategy == .replaceMatching ? .reinsert : rule
    self.strategy = strategy
    self.options = options
    self.transformation = transformation
  }

  var name: String { options.name ?? entityName }

  /// Runs the import.
  ///
  /// - Parameters:
  ///   - makePages: creates the pages from a position. A source without positions returns all
  ///     pages, and the given number of pages, which are already imported, is skipped here.
  ///   - decoder: creates a decoder, which decodes one page at a time. Each concurrent task has its
  ///     own decoder.
  func run<Pages: AsyncSequence>(
    onEvent: (@Sendable (ImportEvent) -> Void)?, _ makePages: (ImportStart) -> Pages,
    decoder: @escaping @Sendable () -> PageDecoding<Pages.Element>,
    bytes: (Pages.Element, (ByteView) -> Void) -> Void = { _, _ in }
  ) async throws -> ImportReport where Pages.Element: Sendable {
    let state = try await begin()
    let committer = ImportCommitter(self, state, onEvent: onEvent)
    do {
      if !state.isAtEnd {
        let queue = DecodingQueue(
          count: min(options.pagesDecodedAtOnce, ImportOptions.mostPagesDecodedAtOnce), decoder)
        defer { queue.cancel() }
        try await feed(
          makePages(start(from: state)), through: queue, from: state, to: committer, onEvent, bytes)
      }
      return try await committer.finish()
    } catch {
      try await committer.stop(error)
    }
  }

  private func feed<Pages: AsyncSequence>(
    _ pages: Pages, through queue: DecodingQueue<Pages.Element>, from state: ImportState,
    to committer: ImportCommitter, _ onEvent: (@Sendable (ImportEvent) -> Void)?,
    _ bytes: (Pages.Element, (ByteView) -> Void) -> Void
  ) async throws where Pages.Element: Sendable {
    let clock = ContinuousClock()
    let start = clock.now
    var progress = ImportProgress()
    var number = state.position == nil ? 0 : state.pages
    var digest = Checksum(resuming: state.position == nil ? 0 : state.digest)
    func take(_ page: DecodedPage) async throws {
      progress.pages += 1
      progress.totalPages = page.totalPages ?? progress.totalPages
      progress.records += page.recordCount
      progress.bytes += page.byteCount
      progress.rejected += page.rejects.count
      progress.seconds = (clock.now - start).inSeconds
      onEvent?(.read(progress))
      try await committer.add(page, progress)
    }
    var failure: (any Error)?
    do {
      var iterator = pages.makeAsyncIterator()
      while let element = try await iterator.next() {
        try Task.checkCancellation()
        number += 1
        bytes(element) { digest.combine($0) }
        if number <= state.pages {
          try checkSame(number, digest, state)
          continue
        }
        let entity = try core.read { try self.entity($0) }
        queue.append(element, number: number, digest: digest.value, entity)
        if queue.isFull, let page = try await queue.next() { try await take(page) }
      }
      if number < state.pages {
        throw StoreError.otherPages(
          "the pages end with page \(number), and \(state.pages) were imported")
      }
    } catch let error where !(error is CancellationError) && !queue.hasFailed {
      // The pages before the unreadable one are still committed.
      failure = error
    }
    while let page = try await queue.next() { try await take(page) }
    if let failure { throw failure }
  }

  private func checkSame(
    _ number: Int, _ digest: Checksum, _ state: ImportState
  ) throws(StoreError) {
    guard number == state.pages, digest.value != state.digest else { return }
    throw .otherPages("the first \(number) pages differ from the imported ones")
  }

  // MARK: Beginning

  /// The origin that the history records for the import's writes.
  var origin: WriteOrigin { WriteOrigin(author: name) }

  private func begin() async throws -> ImportState {
    try await core.onWriter {
      try core.write(origin: origin) { core in
        let entity = try self.entity(core)
        _ = try self.index(of: entity)
        for link in links { _ = try LinkResolver(link, of: entity, core) }
        let log = try WritableImportLog(name, core)
        let open = try log.reads.state()
        if options.resumes, var open {
          guard open.report.strategy == strategy, open.report.entity == entityName else {
            throw StoreError.otherImport(name, open.report)
          }
          open.report.resumptions += 1
          open.report.ending = .open
          open.report.failure = nil
          try log.put(open)
          return open
        }
        var state = ImportState()
        state.report.run = try log.nextRun()
        if var report = open?.report {
          // The earlier run is not resumed, so it ends here. If it failed, its report keeps that
          // ending.
          if report.ending == .open { report.ending = .cancelled }
          try log.end(report)
        }
        try log.clear()
        state.report.name = name
        state.report.entity = entityName
        state.report.strategy = strategy
        state.report.startedAt = .now
        try log.put(state)
        return state
      }
    }
  }

  /// Returns the unique index by which records are matched; `nil` when the import matches no
  /// records.
  func index(of entity: StoredEntity) throws(StoreError) -> StoredIndex? {
    guard let key else { return nil }
    let index = entity.indexes.first { $0.isUnique && Set($0.description.attributes) == key }
    if let index { return index }
    let names = key.sorted().map { entity.description.attribute(number: $0)?.name ?? "?" }
    throw .unknownIndex(
      entity: entity.name, attributes: names.joined(separator: "+"),
      known: entity.indexes.filter(\.isUnique).map(\.name))
  }

  private func start(from state: ImportState) -> ImportStart {
    ImportStart(position: state.position, pages: state.pages) { page in
      guard options.asksForChangesOnly else { return nil }
      return try? core.read { core in try memory(of: page, core) }
    }
  }
}

/// The place where an import begins.
struct ImportStart: Sendable {
  /// The next position, as given by the last committed page.
  let position: String?
  /// The number of pages that have been imported.
  let pages: Int
  /// Returns the remembered facts about the page with a name; `nil` when none are valid.
  let remembered: @Sendable (String) -> PageMemory?
}

extension Duration {
  var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }
}

extension StoreError {
  static func otherPages(_ fact: String) -> StoreError {
    StoreError(
      .importStopped,
      "cannot resume the import: \(fact); run it again without resuming, which keeps the stored records"
    )
  }

  static func otherImport(_ name: String, _ report: ImportReport) -> StoreError {
    StoreError(
      .importStopped,
      "cannot resume import '\(name)': it was begun for \(report.entity) with the strategy "
        + "\(report.strategy.rawValue); use these, use another name, or run it without resuming")
  }
}
