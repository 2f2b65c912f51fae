public import LodestoreEssentials
internal import LodestoreFormat

/// Brings pages of a web service or of files into a store.
///
///     let importer = Importer(into: store, Pod.self, matching: .unique(\.name, \.version))
///     let report = try await importer.run(pages, records: "result") { (spec: PodSpec) in Pod(spec) }
///     print(report)   // 11028 inserted, 0 updated, 0 unchanged, 0 rejected
///
/// Records are matched by a unique index. The stored records are found in one pass, and compared
/// before anything is written. Importing the same pages again changes nothing. Readers are not held
/// up, and see each page whole or not at all. While one group of pages is written the next is read
/// and decoded, a few pages side by side; no more than three groups are in memory.
///
/// How far the import is, is kept in the store in the transaction of the pages' records, so that one
/// that was killed goes on where it stopped (``ImportOptions/resumes``), and so is its report
/// (``ReadableTransaction/importReports(of:)``).
///
/// Errors: ``StoreError/Code/importStopped`` for a page that cannot be read, too many rejects, an
/// import that cannot be gone on with, or ``MergePolicy/patch(_:)`` without attributes where a closure makes the records;
/// what the pages throw; `CancellationError`. In every case nothing of the failed page is kept, and
/// the pages before it are.
///
/// A record that is no JSON is rejected alone where its end is known, and the import goes on: an
/// element of an array with half of a surrogate pair, a key that comes twice or a word such as
/// `NaN`, and with ``FilePages`` each line, value and row. Its reject has the file, the line, the
/// byte and the first bytes.
public struct Importer<E: Entity>: Sendable {
  private let store: Store
  private let matching: RecordMatching<E>
  private let strategy: ImportStrategy
  private let policy: MergePolicy<E>
  /// Under which name records have their keys, where they are the members of an object and not the
  /// elements of an array; for pages of JSON text.
  ///
  ///     importer.keyName = "name"      // {"Alamofire": {…}, "Kingfisher": {…}}
  ///
  /// Each record then has a member `name` with its key as a text, unless it has one of that name
  /// itself.
  public var keyName: String?
  /// How the import commits, stops and goes on.
  public var options: ImportOptions
  /// Members of records that lead to records of other entities; for pages of JSON text.
  ///
  /// With `run(_:records:renaming:onEvent:)` such a member is no attribute, even if it has the name of one.
  public var links: [ImportLink<E>] = []

  /// An importer into `store`.
  ///
  /// - Parameters:
  ///   - strategy: the rule for stored records that a page does not have.
  ///   - onConflict: the rule for an incoming record whose key leads to a stored one;
  ///     ``ImportStrategy/replaceMatching`` does not use it.
  public init(
    into store: Store, _: E.Type = E.self, matching: RecordMatching<E>,
    strategy: ImportStrategy = .upsert, onConflict: MergePolicy<E> = .replace,
    options: ImportOptions = ImportOptions()
  ) {
    self.store = store
    self.matching = matching
    self.strategy = strategy
    policy = onConflict
    self.options = options
  }

  // MARK: Pages of JSON text

  /// Imports pages of JSON text.
  ///
  /// - Parameters:
  ///   - pages: each a whole JSON text.
  ///   - path: where in a page the array of records is, as `result` or `data.items`; empty when
  ///     the page is the array, as those are of files of lines, rows and values. With ``keyName``, where the object is whose members are the
  ///     records.
  ///   - onEvent: called from the task that reads and the one that writes, never from two at once
  ///     for one kind of event.
  ///   - transform: makes an entity of a decoded record; `nil` leaves the record out, and an error
  ///     rejects it. Called from several tasks at once.
  /// - Throws: the errors of `pages`; ``StoreError/Code/importStopped`` for a page that is not JSON or
  ///   has no records at `path`, with page, line and column.
  public func run<Pages: AsyncSequence, Record: Decodable>(
    _ pages: Pages, records path: String = "", as _: Record.Type = Record.self,
    onEvent: (@Sendable (ImportEvent) -> Void)? = nil,
    _ transform: @escaping @Sendable (Record) throws -> E?
  ) async throws -> ImportReport where Pages.Element == Data {
    let decoder = try decoder(path, transform)
    return try await engineOfWholes(path).run(pages, onEvent: onEvent, decoder: decoder)
  }

  /// Imports the pages of a source that can begin in its midst and tell which pages have changed.
  ///
  /// See ``run(_:records:as:onEvent:_:)-(Pages,_,_,_,_)``. An import that goes on asks the source for the
  /// pages after the last committed one.
  public func run<Source: PageSource, Record: Decodable>(
    _ source: Source, records path: String = "", as _: Record.Type = Record.self,
    onEvent: (@Sendable (ImportEvent) -> Void)? = nil,
    _ transform: @escaping @Sendable (Record) throws -> E?
  ) async throws -> ImportReport {
    let decoder = try decoder(path, transform)
    return try await engineOfWholes(path).run(source, onEvent: onEvent, decoder: decoder)
  }

  /// Imports pages of JSON text whose records have the attributes as members.
  ///
  ///     let report = try await importer.run(
  ///       pages, records: "result", renaming: ["source_files": "sourceFiles"])
  ///
  /// The text goes into records without becoming Swift values first, which is the fastest way. Values must
  /// fit their attributes exactly: numbers as they are, dates as text of ISO 8601, data as Base64,
  /// enumerations as the raw value of a case; a record with another value is rejected. Pages of
  /// ``FilePages/csv(_:_:recordsPerPage:)-(String,_,_)`` have texts alone, which are read as values of the
  /// attributes' types, and an empty field is null.
  /// Members that are no attributes are left out, and counted in the report. An attribute whose member
  /// a record lacks is null or has its initial value, in a stored record too where the incoming one
  /// wins; with ``MergePolicy/patch(_:)`` it stays there as it is.
  ///
  /// - Parameter names: the attributes of members that have other names. A name with dots is a path: what is
  ///   inside of a member, or at a position of an array, as in `["properties.mag": "magnitude"]`; the rest of
  ///   that member is left out.
  /// - Throws: ``StoreError/Code/importStopped`` before a page is asked for when a name leads to
  ///   no attribute.
  public func run<Pages: AsyncSequence>(
    _ pages: Pages, records path: String = "", renaming names: [String: String],
    onEvent: (@Sendable (ImportEvent) -> Void)? = nil
  ) async throws -> ImportReport where Pages.Element == Data {
    let (engine, decoder) = try engine(
      byMembers: names, path, readsTexts: (pages as? FilePages)?.hasTextsAlone ?? false)
    return try await engine.run(pages, onEvent: onEvent, decoder: decoder)
  }

  /// Imports the pages of a source whose records have the attributes as members.
  ///
  /// See `run(_:records:renaming:onEvent:)` and ``run(_:records:as:onEvent:_:)-(Source,_,_,_,_)``.
  public func run<Source: PageSource>(
    _ source: Source, records path: String = "", renaming names: [String: String],
    onEvent: (@Sendable (ImportEvent) -> Void)? = nil
  ) async throws -> ImportReport {
    let (engine, decoder) = try engine(byMembers: names, path, readsTexts: false)
    return try await engine.run(source, onEvent: onEvent, decoder: decoder)
  }

  // MARK: Decoded pages

  /// Imports pages that are decoded already.
  public func run<Pages: AsyncSequence, Record>(
    decoded pages: Pages, onEvent: (@Sendable (ImportEvent) -> Void)? = nil,
    _ transform: @escaping @Sendable (Record) throws -> E?
  ) async throws -> ImportReport
  where Pages.Element: Sequence<Record>, Pages.Element: Sendable {
    let key = try key()
    return try await engineOfWholes().run(onEvent: onEvent) { _ in
      pages
    } decoder: { [store] in
      let encoding = EntityEncoding<E>(store, key: key)
      return { records, number, entity in
        var page = DecodedPage(number: number, entity: entity)
        for (index, record) in records.enumerated() {
          let origin = DecodedPage.Origin(record: index + 1, byteOffset: nil)
          do {
            if let value = try transform(record) {
              try encoding.take(value, at: origin, into: &page, entity)
            }
          } catch {
            page.reject(origin, reason: "\(error)")
          }
        }
        return page
      }
    }
  }

  /// Forgets what the store remembers of pages: the next import asks for all of them.
  public func forgetPages() async throws {
    let name = options.name ?? E.schema.name
    try await store.write { transaction in try ImportLog(name, transaction.core).forget() }
  }

  // MARK: The engine

  /// Decodes the records at `path` of a page, of which `transform` makes entities.
  private func decoder<Record: Decodable>(
    _ path: String, _ transform: @escaping @Sendable (Record) throws -> E?
  ) throws -> @Sendable () -> DataDecoding {
    let key = try key()
    let place = RecordPlace(path: path, keyName: keyName)
    let members = members(place)
    return { [store] in
      let encoding = EntityEncoding<E>(store, key: key)
      return { data, page, entity in
        try encoding.take(data, place, transform, into: &page, entity)
        try members.take(data, into: &page)
      }
    }
  }

  /// The engine for records that have the attributes as members, and what decodes them.
  private func engine(
    byMembers names: [String: String], _ path: String, readsTexts: Bool
  ) throws -> (ImportEngine, @Sendable () -> DataDecoding) {
    let key = try key(renaming: names)
    let engine = try engine(transformation(path, names))
    let place = RecordPlace(path: path, keyName: keyName)
    let members = members(place)
    let linked = Set(links.map(\.member))
    return (
      engine,
      {
        let encoding = MemberEncoding(
          engine, key: key, place: place, names: names, cases: E.schema.cases, linked: linked,
          readsTexts: readsTexts)
        return { data, page, entity in
          try encoding.take(data, into: &page, entity)
          try members.take(data, into: &page)
        }
      }
    )
  }

  private func members(_ place: RecordPlace) -> LinkMembers {
    LinkMembers(links: links.map(\.imported), place: place, core: store.core)
  }

  private func key() throws -> Set<UInt32> {
    try store.read { snapshot in
      let index = try matching.index(of: try snapshot.access.core.entity(E.self))
      return Set(index.description.attributes)
    }
  }

  /// Returns the key, or throws when `names` leads to anything but attributes.
  private func key(renaming names: [String: String]) throws -> Set<UInt32> {
    let known = E.schema.attributes.filter { $0.derivation == nil }.map(\.name)
    let unknown = names.filter { !known.contains($0.value) }
    if let (member, name) = unknown.min(by: { $0.key < $1.key }) {
      throw StoreError.unknownAttribute(name, of: E.schema.name, member: member, known: known)
    }
    return try key()
  }

  /// The engine for records that a closure makes: they are whole.
  private func engineOfWholes(_ path: String = "") throws -> ImportEngine {
    let engine = try engine("closure \(path)\(keyText)")
    if engine.rule.takesParts { throw StoreError.partsOfClosure(engine.entityName) }
    return engine
  }

  private func transformation(_ path: String, _ names: [String: String]) -> String {
    let names = names.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
    return "members \(path) \(names.joined(separator: ","))\(keyText)"
  }

  private var keyText: String { keyName.map { " key \($0)" } ?? "" }

  private func engine(_ transformation: String) throws -> ImportEngine {
    let entity = try store.read { try $0.access.core.entity(E.self) }
    return ImportEngine(
      core: store.core, entityName: entity.name,
      entity: { (core) throws(StoreError) in try core.entity(E.self) }, key: try key(),
      rule: try policy.rule(in: entity), strategy: strategy, options: options,
      transformation: transformation, links: links.map(\.imported))
  }
}

extension StoreError {
  fileprivate static func partsOfClosure(_ entity: String) -> StoreError {
    StoreError(
      .importStopped,
      "cannot import \(entity): a record that a closure makes does not say what it was given, as "
        + "MergePolicy.patch() has to know; import by members, with renaming:, or take another policy",
      entity: entity)
  }

  fileprivate static func unknownAttribute(
    _ name: String, of entity: String, member: String, known: [String]
  ) -> StoreError {
    let hint = NearestName.of(name, among: known).map { "; did you mean '\($0)'?" } ?? ""
    return StoreError(
      .importStopped,
      "cannot import \(entity): '\(name)', for the member '\(member)', is no attribute of it\(hint)",
      entity: entity, attribute: name)
  }
}
