public import LodestoreEssentials
internal import LodestoreFormat

/// Imports pages of a web service or of files into a store.
///
///     let importer = Importer(into: store, Pod.self, matching: .unique(\.name, \.version))
///     let report = try await importer.run(pages, records: "result") { (spec: PodSpec) in Pod(spec) }
///     print(report)   // 11028 inserted, 0 updated, 0 unchanged, 0 rejected
///
/// Records are matched by a unique index. The stored records are found in one pass, and compared
/// before anything is written, so importing the same pages again changes nothing. Readers are not
/// blocked, and see each page completely or not at all. While one group of pages is written, the
/// next one is read and decoded, with a few pages decoded concurrently. At most three groups are in
/// memory.
///
/// The store keeps the import's state, in the transaction of the pages' records. A killed import
/// can therefore resume after its last committed page (``ImportOptions/resumes``). The store also
/// keeps the report (``ReadableTransaction/importReports(of:)``).
///
/// An import throws ``StoreError/Code/importStopped`` in these cases:
/// - A page cannot be read, or too many records are rejected.
/// - The import cannot be resumed.
/// - ``MergePolicy/patch(_:)`` is combined with a closure that creates the records.
///
/// Other errors are the errors of `pages`, and `CancellationError`. In every case the failed page
/// has no effect, and the pages before it are committed.
///
/// A record that is not valid JSON is rejected and the import continues, when the record's end is
/// known. Examples are an element of an array with half of a surrogate pair, a repeated key, or a
/// word such as `NaN`. With ``FilePages``, each line, value and row is such a record. The reject
/// contains the file, the line, the byte offset and the first bytes.
public struct Importer<E: Entity>: Sendable {
  private let store: Store
  private let matching: RecordMatching<E>
  private let strategy: ImportStrategy
  private let policy: MergePolicy<E>
  /// The member name for the records' keys, when the records are the members of an object.
  ///
  ///     importer.keyName = "name"      // {"Alamofire": {…}, "Kingfisher": {…}}
  ///
  /// Each record gets a member `name` with its key as text, unless it already has a member of that
  /// name. The property applies to pages of JSON text.
  public var keyName: String?
  /// Options for how the import commits, stops and resumes.
  public var options: ImportOptions
  /// Members of records that name records of other entities, for pages of JSON text.
  ///
  /// With `run(_:records:renaming:onEvent:)` such a member is not an attribute, even when an
  /// attribute has its name.
  public var links: [ImportLink<E>] = []

  /// Creates an importer into `store`.
  ///
  /// - Parameters:
  ///   - strategy: the rule for stored records that a page does not contain.
  ///   - onConflict: the policy for combining a stored record with an incoming one;
  ///     ``ImportStrategy/replaceMatching`` ignores it.
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
  ///   - pages: the pages; each is a complete JSON text.
  ///   - path: the path to the array of records in a page, as `result` or `data.items`. Pass an
  ///     empty path when the page is the array; pages of files of lines, rows and values are
  ///     arrays. With ``keyName``, the path leads to the object whose members are the records.
  ///   - onEvent: called from the task that reads and from the one that writes. Two calls for one
  ///     kind of event never overlap.
  ///   - transform: creates an entity from a decoded record. `nil` leaves the record out, and an
  ///     error rejects it. Several tasks call it concurrently.
  /// - Throws: the errors of `pages`. ``StoreError/Code/importStopped`` for a page that is not JSON
  ///   or has no records at `path`, with page, line and column.
  public func run<Pages: AsyncSequence, Record: Decodable>(
    _ pages: Pages, records path: String = "", as _: Record.Type = Record.self,
    onEvent: (@Sendable (ImportEvent) -> Void)? = nil,
    _ transform: @escaping @Sendable (Record) throws -> E?
  ) async throws -> ImportReport where Pages.Element == Data {
    let decoder = try decoder(path, transform)
    return try await engineOfWholes(path).run(pages, onEvent: onEvent, decoder: decoder)
  }

  /// Imports the pages of a source that can begin at a position and report unchanged pages.
  ///
  /// See ``run(_:records:as:onEvent:_:)-(Pages,_,_,_,_)``. A resumed import asks the source for the
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
  /// The text is encoded into records without creating Swift values, which is the fastest way.
  /// Values must fit their attributes exactly: dates are ISO 8601 text, data is Base64, an
  /// enumeration is the raw value of a case. A record with an unsuitable value is rejected. Pages
  /// of ``FilePages/csv(_:_:recordsPerPage:)-(String,_,_)`` contain only texts, which are read as
  /// values of the attributes' types; an empty field is null.
  ///
  /// Members that are not attributes are left out and counted in the report. An attribute whose
  /// member is absent becomes null or its initial value, even in a stored record that is replaced
  /// by the incoming one. With ``MergePolicy/patch(_:)`` the stored value stays.
  ///
  /// - Parameter names: the attributes of members that have other names. A name with dots is a path
  ///   to a nested member or to a position of an array, as in `["properties.mag": "magnitude"]`.
  ///   The rest of that member is left out.
  /// - Throws: ``StoreError/Code/importStopped`` before a page is requested when `names` contains
  ///   an unknown attribute.
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

  /// Imports pages that are already decoded.
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

  /// Removes the facts that the store remembers about pages, so that the next import requests all
  /// pages.
  public func forgetPages() async throws {
    let name = options.name ?? E.schema.name
    try await store.write { transaction in try WritableImportLog(name, transaction.core).forget() }
  }

  // MARK: The engine

  /// Returns a decoder for the records at `path`, from which `transform` creates entities.
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

  /// Returns the engine and the decoder for records that have the attributes as members.
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

  /// Returns the attributes by which records are matched; throws when `names` contains a name that
  /// is not an attribute.
  private func key(renaming names: [String: String]) throws -> Set<UInt32> {
    let known = E.schema.attributes.filter { $0.derivation == nil }.map(\.name)
    let unknown = names.filter { !known.contains($0.value) }
    if let (member, name) = unknown.min(by: { $0.key < $1.key }) {
      throw StoreError.unknownAttribute(name, of: E.schema.name, member: member, known: known)
    }
    return try key()
  }

  /// Returns the engine for records that a closure creates; such records are always complete.
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
      "cannot import \(entity): MergePolicy.patch() needs the members that a record had, which a "
        + "closure does not report; import by members, with renaming:, or use another policy",
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
