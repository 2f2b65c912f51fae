import Foundation
import LodestoreJSON
import Testing

@testable import EntityStore

/// A way to read records, which returns the results as text.
struct ReadPath: Sendable, CustomTestStringConvertible {
  /// The name of the public call.
  let name: String
  let what: String
  let read: @Sendable (borrowing Snapshot) throws -> String

  var testDescription: String { "\(name): \(what)" }

  init(
    _ name: String, _ what: String, _ read: @escaping @Sendable (borrowing Snapshot) throws -> Any
  ) {
    self.name = name
    self.what = what
    self.read = { "\(try read($0))" }
  }
}

extension ReadPath {
  private static let ids = (1...12).map { RecordID<Offer>(rawValue: UInt64($0)) }
  private static let shop = RecordID<Shop>(rawValue: 1)
  private static let cheap = Offer.where { $0.price < 6 }

  private static func shapes(_ name: String, _ query: Query<Offer>) -> [ReadPath] {
    [
      ReadPath("fetch", name) { try $0.fetch(query) },
      ReadPath("ids", name) { try $0.ids(query) },
      ReadPath("count", name) { try $0.count(query) },
      ReadPath("exists", name) { try $0.exists(query) },
      ReadPath("first", name) { try $0.first(query) as Any },
      ReadPath("page", name) { snapshot in
        var (codes, token) = ([String](), nil as ContinuationToken?)
        repeat {
          let page = try snapshot.page(query.limit(2).continuing(after: token))
          codes += page.items.map(\.code)
          token = page.next
        } while token != nil
        return codes
      },
      ReadPath("values", name) { try $0.values(query, \.code) },
      ReadPath("dictionaries", name) {
        try $0.dictionaries(query, attributes: ["code", "shop.name"]).map {
          "\($0["code"] ?? "") \($0["shop.name"] ?? "")"
        }
      },
      ReadPath("aggregate", name) {
        let totals = try $0.aggregate(query, .sum(\.price), .minimum(\.price), .maximum(\.price))
        return "\(totals)"
      },
      ReadPath("aggregate", "\(name), the date") {
        try $0.aggregate(query, .maximum(\.validUntil)) as Any
      },
      ReadPath("groups", name) { snapshot in
        try snapshot.groups(query, by: \.price, .sum(\.price)).map { "\($0)" }
      },
      ReadPath("forEach", name) { snapshot in
        var codes: [String] = []
        try snapshot.forEach(query) { codes.append($0.code) }
        return codes
      },
      ReadPath("forEachView", name) { snapshot in
        var prices: [Int] = []
        try snapshot.forEachView(query) { prices.append($0.price) }
        return prices
      },
      ReadPath("sections", name) {
        try $0.sections(query.sorted(by: \.price), by: \.price).map { "\($0)" }
      },
      ReadPath("sectionRanges", name) {
        try $0.sectionRanges(query.sorted(by: \.price), by: \.price).map { "\($0)" }
      },
    ]
  }

  /// Ways of each public call that reads records.
  static let all: [ReadPath] =
    shapes("all", Offer.all) + shapes("a condition without an index", cheapWithoutIndex)
    + shapes("a condition on an index", cheap)
    + shapes("an order of an index", Offer.all.sorted(by: \.price).limit(3))
    + shapes("an offset", Offer.all.sorted(by: \.code).limit(4).offset(1))
    + shapes("the date", Offer.where { $0.validUntil != nil })
    + keys + links

  private static let cheapWithoutIndex = Offer.where { $0.code > "a" }

  private static let keys: [ReadPath] = [
    ReadPath("fetch", "an id") { snapshot in try ids.map { try snapshot.fetch($0) } },
    ReadPath("fetch", "ids") { try $0.fetch(ids) },
    ReadPath("fetch", "a key") { snapshot in
      try (0..<12).map { try snapshot.fetch(Offer.key(code: "c\($0)")) }
    },
    ReadPath("exists", "a key") { snapshot in
      try (0..<12).map { try snapshot.exists(Offer.key(code: "c\($0)")) }
    },
    ReadPath("fetch", "keys") { try $0.fetch(Offer.byCode, keys: (0..<12).map { "c\($0)" }) },
    ReadPath("fetch", "an index that is not unique") { snapshot in
      try (0..<8).map { try snapshot.fetch(Offer.byPrice.key($0)) }
    },
    ReadPath("fetch", "bounds") { try $0.fetch(Offer.byPrice, within: .init().from(1).through(9)) },
    ReadPath("fetch", "bounds of a unique index") {
      try $0.fetch(Offer.byCode, within: .init().from("c1"), isReversed: true, limit: 4)
    },
    ReadPath("ids", "bounds") { try $0.ids(Offer.byPrice, within: .init().upTo(7)) },
    ReadPath("count", "bounds") { try $0.count(Offer.byCode, within: .init()) },
    ReadPath("withView", "an id") { snapshot in
      try ids.map { try snapshot.withView($0) { $0.price } }
    },
    ReadPath("withView", "a key") { snapshot in
      try (0..<12).map { try snapshot.withView(Offer.key(code: "c\($0)")) { $0.price } }
    },
    ReadPath("edit", "an id") { snapshot in
      ids.map { (try? snapshot.edit($0))?.value.code ?? "none" }
    },
  ]

  private static let links: [ReadPath] = [
    ReadPath("related", "one record") { try $0.related(Shop.offers, of: shop) },
    ReadPath("related", "with a limit") {
      try $0.related(Shop.offers, of: shop, Offer.all.limit(2))
    },
    ReadPath("related", "with a condition") { try $0.related(Shop.offers, of: shop, cheap) },
    ReadPath("related", "several records") { snapshot in
      let found = try snapshot.related(Shop.offers, of: try snapshot.ids(Shop.all))
      return found.all
    },
    ReadPath("relatedIDs", "one record") { try $0.relatedIDs(Shop.offers, of: shop) },
    ReadPath("relatedCount", "one record") { try $0.relatedCount(Shop.offers, of: shop) },
    ReadPath("relatedPage", "one record") {
      try $0.relatedPage(Shop.offers, of: shop, Offer.all.limit(3)).items
    },
    ReadPath("fetch", "including many") { snapshot in
      try snapshot.fetch(Shop.all, including: Shop.offers).map { "\($0)" }
    },
    ReadPath("fetch", "including one") { snapshot in
      try snapshot.fetch(Offer.all, including: \.shop).map { "\($0)" }
    },
    ReadPath("page", "including") { snapshot in
      try snapshot.page(Shop.all.limit(2), including: .many(Shop.offers)).items.map { "\($0)" }
    },
    condition("ANY offers.price > 3"), condition("offers.@count > 0"),
    condition("offers.@count == 0"),
    condition("offers.@count > 2"), condition("NONE offers.price > 3"),
    condition("ALL offers.price > 3"), condition("offers.@sum.price > 10"),
    condition("SUBQUERY(offers, $o, $o.price > 4).@count > 1"),
    condition("offers.@max.price < 8"), condition("ANY offers.code IN {'c1', 'c2'}"),
  ]

  private static func condition(_ format: String) -> ReadPath {
    ReadPath("fetch", format) { try $0.fetch(Shop.where(format: format)).map(\.name) }
  }
}

@Suite("Reads with expired records")
struct ExpiredReadTests {
  /// Inserts twelve offers of four shops, half of them expired, and one shop with only expired
  /// offers.
  private func fill(_ store: Store, _ clock: TestClock) throws {
    try store.write { tx in
      var shops: [RecordID<Shop>] = []
      for index in 0..<5 { shops.append(try tx.insert(Shop(name: "s\(index)")).id) }
      for index in 0..<12 {
        let isShort = index % 2 == 0
        _ = try tx.insert(
          Offer(
            "c\(index)", price: index % 8, until: isShort ? 1_010 : index % 3 == 0 ? nil : 2_000,
            shop: shops[isShort && index % 4 == 0 ? 4 : index % 4]))
      }
    }
    clock.now = 1_020
  }

  @Test(arguments: [false, true])
  func `each read path returns equal results before and after the eviction`(isPlain: Bool) throws {
    let clock = TestClock()
    var options = clock.options
    options.usesPlainEngine = isPlain
    try withTemporaryStore([Offer.self, Shop.self], options: options) { store in
      try fill(store, clock)
      let before = try ReadPath.all.map { path in try store.read { try path.read($0) } }
      let pinned = try store.snapshot()
      #expect(try store.storedCount(of: Offer.self) == 12)
      let report = try store.evict()
      #expect(report.evictedCounts == ["Offer": 6])
      for (path, text) in zip(ReadPath.all, before) {
        let after = try store.read { try path.read($0) }
        let pinnedText = try pinned.read { try path.read($0) }
        #expect(text == after, "\(path.testDescription)")
        #expect(text == pinnedText, "\(path.testDescription), in a pinned snapshot")
      }
    }
  }

  @Test
  func `lazy results and batches are equal before and after the eviction`() async throws {
    let clock = TestClock()
    try await withTemporaryStore([Offer.self, Shop.self], options: clock.options) { store in
      try fill(store, clock)
      func read() async throws -> [String] {
        let results = try await store.results(Offer.all.sorted(by: \.price))
        var codes =
          try results.values().map(\.code) + results.map(\.id).map(String.init(describing:))
        for try await batch in store.batches(of: 2, Offer.all) { codes += batch.map(\.code) }
        codes += try await store.fetch(Offer.all).map(\.code)
        codes.append("\(try await store.count(Offer.all))")
        return codes
      }
      let before = try await read()
      _ = try await store.evict()
      let after = try await read()
      #expect(before == after)
      #expect(before.count > 18)
    }
  }

  @Test
  func `the dynamic face returns equal results before and after the eviction`() throws {
    try withOffers { store, clock in
      try fill(store, clock)
      func read() throws -> [String] {
        try DynamicStore(store).read { snapshot in
          guard let offer = snapshot.entity(named: "Offer") else { return [] }
          var texts = ["\(try snapshot.count(of: offer))"]
          try snapshot.forEachRecord(of: offer) { record in
            texts.append("\(record.id)")
            return true
          }
          texts += try (UInt64(1)...12).map { "\(try snapshot.record($0, of: offer)?.id ?? 0)" }
          for format in ["TRUEPREDICATE", "price > 3", "code BEGINSWITH 'c'", "shop.name == 's0'"] {
            let query = try snapshot.query(QueryRequest(format: format), of: offer)
            texts.append("\(format): \(try query.ids()) \(try query.count())")
          }
          return texts
        }
      }
      let before = try read()
      try store.evict()
      let after = try read()
      #expect(after == before)
    }
  }

  @Test
  func `the reader in Python omits expired records`() throws {
    let folder = try TemporaryFolder()
    let clock = TestClock()
    let store = try Store(
      at: folder.storePath, entities: [Offer.self, Shop.self], options: clock.options)
    try fill(store, clock)
    let codes = try store.fetch(Offer.all).map(\.code)
    let linked = try store.relatedIDs(Shop.offers, of: RecordID(rawValue: 4)).map(\.rawValue)
    store.close()
    let program = """
      import datetime, sys
      sys.path.insert(0, sys.argv[1])
      import lodestore
      now = lodestore.documents.EPOCH + datetime.timedelta(seconds=1020)
      with lodestore.open(sys.argv[2], now=now) as store:
          offers, shops = store.entity("Offer"), store.entity("Shop")
          print([one["code"] for one in offers], len(offers), list(offers.find(code="c0")), offers.get(1))
          print(shops.related(4, "offers"), shops.related(5, "offers"))
      """
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [
      "python3", "-B", "-c", program, root.path + "/tools/readers/python", folder.storePath,
    ]
    let output = Pipe()
    process.standardOutput = output
    guard (try? process.run()) != nil else { return print("no python3: its reader was not tried") }
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    if process.terminationStatus == 127 { return print("no python3: its reader was not tried") }
    let listed = codes.map { "'\($0)'" }.joined(separator: ", ")
    #expect(
      String(decoding: data, as: UTF8.self)
        == "[\(listed)] \(codes.count) [] None\n\(linked) []\n")
  }

  @Test
  func `each public call that reads records has a path in this test`() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent()
    let list = try String(
      contentsOf: root.appendingPathComponent("Surface/PublicDeclarations.txt"), encoding: .utf8)
    let calls = Set(
      list.matches(of: /EntityStore ReadableTransaction: .*?func (\w+)/).map { String($0.1) })
    // These calls read no records: they read buckets, reports, the words of a search index or the
    // history. The index and the history also have expired records.
    let others: Set = [
      "bucketNames", "data", "explain", "explaining", "forEachTransaction", "forEachWrite",
      "history", "historyConsumers", "historyToken", "importNames", "importReports", "preserved",
      "searchSuggestions", "value",
    ]
    #expect(calls.count > 15)
    #expect(calls.subtracting(others).subtracting(ReadPath.all.map(\.name)) == [])
  }
}
