internal import EntityStore
internal import LodestoreRows

/// Makes the pages of one store, each in one short read transaction.
struct PageMaker: Sendable {
  /// The limits that keep a page quick and its transaction short.
  struct Limits: Sendable {
    /// The time to find the rows of a page.
    var rows = Duration.seconds(2)
    /// The time to count the selected records.
    var count = Duration.milliseconds(100)
    /// The time to count the values of all expressions, and the time to find other searches.
    var facets = Duration.seconds(1)
    /// The time of a page of many records that a person waits for.
    ///
    /// The page has the rows and counts that this time allows, and a link to the page with more.
    var page = Duration.milliseconds(70)
    /// The end of all parts of the page together; `nil` for a time of each part alone.
    var end: ContinuousClock.Instant?
    /// The time to find the last changes of a record.
    var history = Duration.milliseconds(200)
    /// The number of records of an entity up to which each condition and order is quick.
    var quickCount = 20_000
    /// The number of rows of a page.
    var pageSize = 100
    /// The number of rows that a streaming form reads in one transaction.
    var batchSize = 2_000
    /// The number of bytes of stored records that a page reads.
    ///
    /// A page or batch with larger records has fewer of them, and one at least.
    var pageBytes = 8 << 20
    /// The number of bytes of stored records that a streaming form reads in one transaction.
    ///
    /// A connection holds one batch until its client has taken it.
    var batchBytes = 1 << 20
    /// The number of bytes that the records of a page may take as JSON; `nil` for no limit.
    ///
    /// A page has one record at least.
    var rowBytes: Int?
    /// Returns whether nobody waits for the page any more, which ends its queries.
    var isCancelled: @Sendable () -> Bool = { false }

    /// The end of a part that may take `duration`.
    func time(_ duration: Duration) -> TimeLimit {
      let own = ContinuousClock.now.advanced(by: duration)
      return TimeLimit(end: end.map { min($0, own) } ?? own, isCancelled)
    }

    /// The limits of a page whose parts take `duration` together.
    func together(_ duration: Duration) -> Limits {
      var limits = self
      (limits.rows, limits.count, limits.facets) = (duration, duration, duration)
      limits.end = ContinuousClock.now.advanced(by: duration)
      return limits
    }
  }

  let store: DynamicStore
  /// The path of the file, for people.
  let path: String
  var limits = Limits()
  /// Whether pages offer changes.
  var offersEdits = false

  /// Makes the page of a target.
  ///
  /// - Throws: ``AddressError`` for an address that leads to nothing, and `StoreError`.
  func page(_ target: Target) throws -> Page {
    try page(as: target.form) { reading in
      var page = try reading.page(target.route)
      if target.form == .geojson, !page.hasPlaces, !page.isRefused {
        throw AddressError.notFound("the rows of this page have no places for GeoJSON")
      }
      guard target.form == .html else { return page }
      page.entities = try reading.snapshot.entities.prefix(200).map {
        Page.EntityLink(name: $0.name, count: try reading.snapshot.count(of: $0))
      }
      return page
    }
  }

  /// Makes a page for the form `form` by `make`, in one transaction.
  func page(as form: Form, _ make: (PageReading) throws -> Page) throws -> Page {
    try store.read { snapshot in
      var page = try make(PageReading(maker: self, snapshot: snapshot, form: form))
      page.commit = snapshot.commitNumber
      page.isWritable = offersEdits
      return page
    }
  }

  /// The page with the reason why an address has no page.
  func failure(_ message: String, title: String, route: Route = .store) -> Page {
    var page = Page(route: route, title: title)
    page.sections = [Section("notice", .notice(Notice(.error, message)))]
    page.isRefused = true
    return page
  }
}

/// The making of one page in one transaction.
struct PageReading {
  let maker: PageMaker
  let snapshot: DynamicSnapshot
  let form: Form
  private(set) var limits: PageMaker.Limits

  init(maker: PageMaker, snapshot: DynamicSnapshot, form: Form) {
    self.maker = maker
    self.snapshot = snapshot
    self.form = form
    limits = maker.limits
  }

  func page(_ route: Route) throws -> Page {
    switch route {
    case .store: try storePage()
    case .entity(let name, let selection):
      try timed(name, selection) { try EntityPage($0, $1, selection).page() }
    case .schema(let name): try schemaPage(entity(name))
    case .plan(let name, let selection):
      try timed(name, selection) { try $0.planPage($1, selection) }
    case .record(let name, let id): try recordPage(entity(name), id)
    case .related(let name, let id, let relationship, let selection):
      try relatedPage(entity(name), id, relationship, selection)
    case .index(let name, let index, let selection):
      try timed(name, selection) { try $0.indexPage($1, index, selection) }
    case .history(let before): try historyPage(before: before)
    case .write(let number, let start): try writePage(number, from: start)
    case .change(let number, let name, let id): try changePage(number, entity(name), id)
    case .imports(let name): try importsPage(name)
    case .importRun(let name, let run, let kind, let start):
      try importRunPage(name, run, kind, from: start)
    case .model: try modelPage()
    case .edit, .live, .styleSheet, .script, .icon:
      throw AddressError.unknownPath(route.address.text)
    }
  }

  /// Makes a page of an entity's records in the time that its address, or its size, gives.
  private func timed(
    _ name: String, _ selection: Selection,
    _ make: (PageReading, DynamicEntity) throws -> Page
  ) throws -> Page {
    let entity = try entity(name)
    var reading = self
    if let seconds = selection.wait {
      reading.limits = limits.together(.seconds(seconds))
    } else if form == .html, try snapshot.count(of: entity) > limits.quickCount {
      reading.limits = limits.together(limits.page)
    }
    return try make(reading, entity)
  }

  /// The section with changes that the page offers; `nil` for a server that only reads.
  func edits(_ links: EditLink...) -> Section? {
    guard maker.offersEdits, form == .html else { return nil }
    return Section("edits", .edits(links))
  }

  /// Whether the form has all rows, which are read in batches.
  var streams: Bool { form == .jsonl || form == .csv || form == .geojson }

  /// Reads the rows of the page at `route`, and of those after it; `nil` for forms of one page.
  func following(_ route: Route?) -> Table.Batch.Next? {
    guard streams, let route else { return nil }
    return { [maker, form] in
      let table = try maker.page(Target(route, form)).rows
      return Table.Batch(rows: table?.rows ?? [], next: table?.next)
    }
  }

  func entity(_ name: String) throws(AddressError) -> DynamicEntity {
    if let entity = snapshot.entity(named: name) { return entity }
    throw .notFound(
      Self.missing("the store has no entity", name, among: snapshot.entities.map(\.name)))
  }

  /// A sentence about a missing name, with the most similar one.
  static func missing(_ sentence: String, _ name: String, among known: [String]) -> String {
    let hint = NearestName.of(name, among: known).map { "; did you mean '\($0)'?" } ?? ""
    return "\(sentence) '\(name)'\(hint)"
  }

  /// The indexes of an entity that have a page.
  static func indexes(of entity: DynamicEntity) -> [DynamicIndex] {
    entity.indexes + entity.elementIndexes + entity.searchIndexes + entity.placeIndexes
      + entity.vectorIndexes
  }

  /// The views of an entity, which its pages have in common.
  func views(of entity: DynamicEntity, _ selection: Selection = Selection()) -> [Page.Crumb] {
    let plain = selection.changed {
      $0.facets = []
      $0.size = nil
    }
    return [
      Page.Crumb(text: "Records", route: .entity(entity.name, plain)),
      Page.Crumb(text: "Query plan", route: .plan(entity.name, plain)),
      Page.Crumb(text: "Schema", route: .schema(entity.name)),
    ]
      + Self.indexes(of: entity).map { index in
        let isOnlyMap =
          entity.placeIndexes.count == 1 && index.name == entity.placeIndexes[0].name
        return Page.Crumb(
          text: isOnlyMap ? "Map" : "Index \(index.shortName)",
          route: .index(
            entity.name, index.shortName,
            entity.placeIndexes.contains { $0.name == index.name } ? plain : Selection()))
      }
  }
}

/// The end of the time for one part of a page.
struct TimeLimit: Sendable {
  private let end: ContinuousClock.Instant
  private let isCancelled: @Sendable () -> Bool

  init(end: ContinuousClock.Instant, _ isCancelled: @escaping @Sendable () -> Bool) {
    self.end = end
    self.isCancelled = isCancelled
  }

  var isOver: Bool { ContinuousClock.now >= end || isCancelled() }

  /// A control that ends a query with `StoreError.Code.cancelled` when the time is over.
  var control: RunControl { RunControl(isCancelled: { isOver }) }
}
