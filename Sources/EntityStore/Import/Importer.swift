#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif
internal import LodestoreFormat

/// Brings pages of a web service or of files into a store, a page a transaction.
///
///     let importer = Importer(into: store, Pod.self, matching: .unique(\.name, \.version))
///     let report = try await importer.run(pages, records: "result") { (spec: PodSpec) in Pod(spec) }
///     print(report)   // 11028 inserted, 0 updated, 0 unchanged, 0 rejected
///
/// Records are matched by a unique index: the stored records of a page are found in one pass, and
/// compared before anything is written, so that importing the same pages again changes nothing.
/// Readers are not held up, and see each page whole or not at all. While one page is being
/// written the next is read and decoded; no more than two pages are in memory.
public struct Importer<E: Entity>: Sendable {
  /// How incoming records are matched with stored ones.
  public struct Matching: Sendable {
    let paths: [any PartialKeyPath<E> & Sendable]

    /// By the unique index over exactly these attributes.
    public static func unique(_ paths: any PartialKeyPath<E> & Sendable...) -> Matching {
      Matching(paths: paths)
    }
  }

  /// What becomes of a record that the store has already.
  public enum Conflict: Sendable {
    /// It takes the incoming values.
    case replace
    /// It stays as it is.
    case ignore
  }

  private let store: Store
  private let matching: Matching
  private let conflict: Conflict

  /// An importer into `store`.
  public init(
    into store: Store, _: E.Type = E.self, matching: Matching, onConflict: Conflict = .replace
  ) {
    self.store = store
    self.matching = matching
    conflict = onConflict
  }

  /// Imports pages of JSON text.
  ///
  /// - Parameters:
  ///   - pages: each a whole JSON text.
  ///   - path: where in a page the array of records is, as `result` or `data.items`; empty when
  ///     the page is the array.
  ///   - transform: makes an entity of a decoded record; `nil` leaves the record out, and an error rejects it.
  /// - Throws: what `pages` throws; ``StoreError/Code/importStopped`` for a page that is not JSON or
  ///   has no records at `path`, with page, line and column. Earlier pages are kept, nothing of
  ///   the failed page is.
  public func run<Pages: AsyncSequence, Record: Decodable>(
    _ pages: Pages, records path: String = "", as _: Record.Type = Record.self,
    _ transform: @escaping @Sendable (Record) throws -> E?
  ) async throws -> ImportReport where Pages.Element == Data {
    try await run(pages) { page, number in
      try JSONPage(page, number: number, path: path).records(transform)
    }
  }

  /// Imports pages that are decoded already.
  public func run<Pages: AsyncSequence, Record>(
    decoded pages: Pages, _ transform: @escaping @Sendable (Record) throws -> E?
  ) async throws -> ImportReport
  where Pages.Element: Sequence<Record>, Pages.Element: Sendable {
    try await run(pages) { page, number in
      var records = PageRecords<E>()
      for (place, record) in page.enumerated() {
        do {
          if let value = try transform(record) { records.values.append((place + 1, nil, value)) }
        } catch {
          records.rejects.append(
            .init(page: number, record: place + 1, byteOffset: nil, reason: "\(error)"))
        }
      }
      return records
    }
  }

  private func run<Pages: AsyncSequence>(
    _ pages: Pages, _ decode: (Pages.Element, Int) throws -> PageRecords<E>
  ) async throws -> ImportReport {
    let clock = ContinuousClock()
    let start = clock.now
    var report = ImportReport()
    // One page is written while the next is decoded: a writer task at a time.
    var writing: Task<PageResult, any Error>?
    do {
      var number = 0
      for try await page in pages {
        try Task.checkCancellation()
        number += 1
        let records = try decode(page, number)
        if let result = try await writing?.value { result.add(to: &report) }
        writing = Task { [number] in try await write(records, page: number) }
      }
    } catch {
      // The page before the failed one is whole and stays.
      if let result = try await writing?.value { result.add(to: &report) }
      throw error
    }
    if let result = try await writing?.value { result.add(to: &report) }
    let duration = clock.now - start
    report.seconds =
      Double(duration.components.seconds) + Double(duration.components.attoseconds) * 1e-18
    return report
  }

  private func write(_ records: PageRecords<E>, page: Int) async throws -> PageResult {
    let paths = matching.paths
    let mode: MergeMode = conflict == .replace ? .replace : .ignore
    return try await store.write { transaction in
      let core = transaction.core
      let (entity, index) = try core.uniqueIndex(E.self, over: paths)
      let merge = PageMerge(into: entity, matching: index, mode: mode, core: core)
      var result = PageResult(rejects: records.rejects)
      var merged: [(record: Int, byteOffset: Int?)] = []
      for (record, byteOffset, value) in records.values {
        do {
          merge.add(UnsafeRawBufferPointer(try core.encode(value, of: entity)))
          merged.append((record, byteOffset))
        } catch let error as StoreError where error.code == .unstorableValue {
          result.rejects.append(
            .init(page: page, record: record, byteOffset: byteOffset, reason: error.message))
        }
      }
      for (place, outcome) in try merge.apply().enumerated() {
        result.count(outcome, page: page, place: merged[place])
      }
      return result
    }
  }
}

/// The decoded records of a page: number, byte offset, value.
struct PageRecords<E: Entity>: Sendable {
  var values: [(record: Int, byteOffset: Int?, value: E)] = []
  var rejects: [ImportReport.Reject] = []
}

/// What one page added to the report.
struct PageResult: Sendable {
  var inserted = 0
  var updated = 0
  var unchanged = 0
  var ignored = 0
  var rejects: [ImportReport.Reject]

  mutating func count(
    _ outcome: PageMerge.Outcome, page: Int, place: (record: Int, byteOffset: Int?)
  ) {
    switch outcome {
    case .inserted: inserted += 1
    case .updated: updated += 1
    case .unchanged: unchanged += 1
    case .ignored: ignored += 1
    case .rejected(let reason):
      rejects.append(
        .init(page: page, record: place.record, byteOffset: place.byteOffset, reason: reason))
    }
  }

  func add(to report: inout ImportReport) {
    report.pages += 1
    report.inserted += inserted
    report.updated += updated
    report.unchanged += unchanged
    report.ignored += ignored
    for reject in rejects.sorted(by: { $0.record < $1.record }) { report.reject(reject) }
  }
}

extension TransactionCore {
  /// The unique index over exactly `paths`, in any order of attributes.
  func uniqueIndex<E: Entity>(
    _ type: E.Type, over paths: [any PartialKeyPath<E> & Sendable]
  ) throws(StoreError) -> (StoredEntity, StoredIndex) {
    let entity = try entity(type)
    let names = paths.map { path in
      E.schema.place(of: path).map { E.schema.attributes[$0].name } ?? "?"
    }
    let numbers = Set(names.compactMap { entity.description.attribute(named: $0)?.number })
    guard
      let index = entity.indexes.first(where: {
        $0.isUnique && Set($0.description.attributes) == numbers && numbers.count == names.count
      })
    else {
      throw .unknownIndex(
        entity: entity.name, attributes: names.joined(separator: "+"),
        known: entity.indexes.filter(\.isUnique).map(\.name))
    }
    return (entity, index)
  }
}
