import Foundation
import Testing

@testable import EntityStore

/// Random writes to a limited entity, against dictionaries.
private final class LimitRun {
  typealias Cached = Page<FewPages>

  struct Item {
    var url: String
    var date: Double?
  }

  let path: String
  /// The stores of the one file; each write uses one of them.
  var stores: [Store]
  var numbers: SeededNumbers
  var items: [UInt64: Item] = [:]
  /// The length of each record in bytes, as read after each write.
  var lengths: [UInt64: Int] = [:]
  /// The number of comments that refer to each page.
  var notes: [UInt64: Int] = [:]
  var clock = 0.0
  var urlCount = 0
  var evictedCount = 0

  init(_ path: String, _ numbers: SeededNumbers) throws {
    self.path = path
    self.numbers = numbers
    stores = [try Self.open(path), try Self.open(path)]
  }

  static func open(_ path: String) throws -> Store {
    try Store(at: path, entities: [Cached.self, PageComment.self], options: .withoutKeeper)
  }

  func step() throws {
    let store = stores[numbers.below(stores.count)]
    let number = numbers.below(12)
    if number == 10 { return try evict(store) }
    if number == 11 { return try reopen() }
    evictFirst()
    switch number {
    case 0, 1, 2: try insert(numbers.below(4) + 1, store)
    case 3: try insert(numbers.below(30) + 30, store)
    case 4, 5: try touch(store)
    case 6: try grow(store)
    case 7: try delete(store)
    case 8: try updateAll(store)
    default: try comment(store)
    }
    try check(store)
  }

  // MARK: The model of the limit

  private var size: Int { lengths.values.reduce(0, +) }

  private func isAbove(_ count: Int, _ bytes: Int) -> Bool { items.count > count || size > bytes }

  private func evictFirst() {
    if isAbove(40 + 40 / 16, 3_000 + 3_000 / 16) { evictOldest() }
  }

  private func evictOldest() {
    while isAbove(40, 3_000) {
      let oldest = items.min { a, b in
        (a.value.date ?? -.infinity, a.key) < (b.value.date ?? -.infinity, b.key)
      }
      guard let id = oldest?.key else { return }
      remove(id)
      evictedCount += 1
    }
  }

  private func remove(_ id: UInt64) {
    items[id] = nil
    lengths[id] = nil
    notes[id] = nil
  }

  // MARK: Writes

  private func date() -> Double? {
    clock += 1
    if numbers.oneIn(6) { return nil }
    return numbers.oneIn(3) ? Double(numbers.below(8)) : clock
  }

  private func insert(_ count: Int, _ store: Store) throws {
    let pages = (0..<count).map { _ in
      urlCount += 1
      return Cached(
        "u\(urlCount)", String(repeating: "b", count: numbers.below(60)), at: date())
    }
    let inserted =
      count < 3
      ? try store.write { tx in try pages.map { try tx.insert($0) } }
      : try store.write { tx in
        _ = try tx.insert(pages)
        return try pages.compactMap { try tx.fetch(Cached.index(\.url).key($0.url)) }
      }
    #expect(inserted.count == count, "\(SeededNumbers.replay)")
    for page in inserted {
      items[page.id.rawValue] = Item(
        url: page.url, date: page.fetchedAt?.timeIntervalSinceReferenceDate)
    }
  }

  /// A write that changes nothing still evicts first.
  private func writeNothing(_ store: Store) throws { try store.write { _ in } }

  private func one() -> UInt64? { items.keys.sorted().randomElement(using: &numbers) }

  private func touch(_ store: Store) throws {
    guard let id = one() else { return try writeNothing(store) }
    let date = date()
    try store.write { tx in
      guard var page = try tx.fetch(RecordID<Cached>(rawValue: id)) else { return }
      page.fetchedAt = date.map { Date(timeIntervalSinceReferenceDate: $0) }
      _ = try tx.update(page)
    }
    items[id]?.date = date
  }

  private func grow(_ store: Store) throws {
    guard let id = one() else { return try writeNothing(store) }
    let length = numbers.oneIn(8) ? 3_000 : numbers.below(300)
    try store.write { tx in
      guard var page = try tx.fetch(RecordID<Cached>(rawValue: id)) else { return }
      page.body = String(repeating: "g", count: length)
      _ = try tx.update(page)
    }
  }

  private func delete(_ store: Store) throws {
    let digit = "\(numbers.below(10))"
    let gone = items.filter { $0.value.url.hasSuffix(digit) }.keys
    #expect(
      try store.delete(Cached.where(format: "url ENDSWITH '\(digit)'")) == gone.count,
      "\(SeededNumbers.replay)")
    for id in gone { remove(id) }
  }

  private func updateAll(_ store: Store) throws {
    let digit = "\(numbers.below(10))"
    let length = numbers.below(90)
    try store.update(Cached.where(format: "url ENDSWITH '\(digit)'")) {
      $0.body = String(repeating: "u", count: length)
    }
  }

  private func comment(_ store: Store) throws {
    guard let id = one() else { return try writeNothing(store) }
    try store.write { _ = try $0.insert(PageComment(on: RecordID(rawValue: id))) }
    notes[id, default: 0] += 1
  }

  private func evict(_ store: Store) throws {
    let before = evictedCount
    evictOldest()
    let report = try store.evict()
    #expect(report.evictedCount == evictedCount - before, "\(SeededNumbers.replay)")
    try check(store)
  }

  private func reopen() throws {
    for store in stores { store.close() }
    stores = [try Self.open(path), try Self.open(path)]
  }

  // MARK: Checks

  private func check(_ store: Store) throws {
    let replay = "\(SeededNumbers.replay)"
    lengths = try store.storedLengths(of: Cached.self)
    #expect(lengths.keys.sorted() == items.keys.sorted(), "\(replay)")
    #expect(try store.storedSize(of: Cached.self) == size, "\(replay)")
    let comments = try store.fetch(PageComment.all)
    // Comments on an evicted page refer to null.
    #expect(comments.filter { $0.page != nil }.count == notes.values.reduce(0, +), "\(replay)")
    let urls = try store.fetch(Cached.all.sorted(by: \.url)).map(\.url)
    #expect(urls == items.values.map(\.url).sorted(), "\(replay)")
  }

  func close() { for store in stores { store.close() } }
}

/// A comment on a page.
private struct PageComment: Entity {
  var id = RecordID<PageComment>()
  var page: RecordID<Page<FewPages>>?

  static let schema = EntitySchema<PageComment>("Comment", attributes: [.toOne("page", \.page)])

  init(on page: RecordID<Page<FewPages>>) { self.page = page }

  func encode(into writer: inout RecordWriter) { writer.write(page) }

  init(from reader: inout RecordReader) throws(StoreError) { page = try reader.read() }
}

@Suite struct `Random operations on a limited entity` {
  /// The variable `LODESTORE_LIMIT_STEPS` sets the number of operations.
  @Test(arguments: [1, 2, 3])
  func `random operations on a limited entity agree with a model of the oldest records`(
    salt: UInt64
  ) throws {
    let steps = SeededNumbers.environmentNumber("LODESTORE_LIMIT_STEPS") ?? 300
    try withTemporaryPath { path in
      let run = try LimitRun(path, SeededNumbers(salt: 9_900 + salt))
      for _ in 0..<steps { try run.step() }
      #expect(run.evictedCount > steps / 8)
      run.close()
    }
  }
}
