import LodestoreFormat
import Synchronization
import Testing

@testable import EntityStore

/// Orders by one number sort the values in the records, not keys made of them.
@Suite struct SlotOrderTests {
  @Test func `A sort of words is stable, whatever their number`() throws {
    var random = SeededNumbers(salt: 91)
    var sort = WordSort()
    for count in [0, 1, 2, 63, 64, 65, 5_000, 700, 40_000, 100] {
      // The masks leave few or many bytes in which the words differ.
      for mask in [UInt64.max, 0xff00_0000_0000_00ff, 3, 0] {
        sort.removeAll()
        let words = (0..<count).map { _ in random.next() & mask }
        for (index, word) in words.enumerated() { sort.append(word, index: index) }
        var tickCount = 0
        sort.sort { tickCount += 1 }
        let expected = words.enumerated().sorted { a, b in
          (a.element, a.offset) < (b.element, b.offset)
        }
        let comment: Comment = "\(count) words of \(mask), \(SeededNumbers.replay)"
        #expect(sort.items.map(\.index) == expected.map(\.offset), comment)
        #expect(sort.items.map(\.word) == expected.map(\.element), comment)
        #expect(tickCount >= count >> 14, comment)
      }
    }
  }

  @Test(arguments: [
    "int", "small", "big", "ratio", "single", "flag", "date", "group", "code", "level", "extra",
    "serial", "owner",
  ])
  func `An order by a number is that of its values, ties and nulls included`(
    name: String
  ) throws {
    try withSpecimens(count: 120, salt: 92) { store, records in
      try store.core.read { core in
        let entity = try core.entity(Specimen.self)
        for isDescending in [false, true] {
          for nullsFirst in [nil, false, true] {
            for isTieTurned in [false, true] {
              var terms = [
                SortTerm(
                  ValuePath(attribute: name), isDescending: isDescending, nullsFirst: nullsFirst)
              ]
              if isTieTurned {
                terms.append(
                  SortTerm(ValuePath(attribute: "_id"), isDescending: !isDescending))
              }
              #expect(
                SlotOrder(try BoundOrder(terms, ConditionBinding(entity)), entity) != nil)
              let expected = OracleOrder(terms).sorted(records).map(\.id)
              for (limit, offset) in [(nil, 0), (1, 0), (7, 110), (50, 10), (119, 5)] {
                var request = QueryRequest()
                request.order = terms
                request.limit = limit
                request.offset = offset
                request.forcesScan = true
                let plan = try core.plan(request, for: entity)
                let found = try PlanRun(plan, core: core).ids()
                // A fetch by the same plan decodes exactly the found records.
                if limit == nil {
                  var decoded: [UInt64] = []
                  try core.readResults(of: try PlanRun(plan, core: core), reserve: { _ in }) {
                    decoded.append(try Specimen.read(from: &$0).id.rawValue)
                    return true
                  }
                  #expect(decoded == found, "\(terms), \(SeededNumbers.replay)")
                }
                #expect(
                  found == Array(expected.dropFirst(offset).prefix(limit ?? .max)),
                  "\(terms), \(limit ?? -1) from \(offset), \(SeededNumbers.replay)")
              }
            }
          }
        }
      }
    }
  }

  @Test func `A count reads an index even if a fetch would scan`() throws {
    try withTemporaryStore([Trial.self]) { store in
      try Trial.make(20_000, in: store)
      try store.core.read { core in
        let entity = try core.entity(Trial.self)
        var request = QueryRequest(
          condition: try ConditionParser.parse("number >= 4000 AND number < 9000").tree)
        #expect(try core.plan(request, for: entity).isScan)
        request.wantsOnlyEntries = true
        let run = try PlanRun(try core.plan(request, for: entity), core: core)
        #expect(try !run.plan.isScan && run.count() == 5_000)
        #expect(run.counts.entriesRead == 5_000 && run.counts.recordsRead == 0)
        // Conditions on attributes outside of the entries are checked on the records, of which many
        // are read by a scan.
        request.condition = try ConditionParser.parse(
          "number >= 4000 AND number < 9000 AND note == 'note 1'"
        ).tree
        #expect(try core.plan(request, for: entity).isScan)
      }
    }
  }

  @Test func `An undecodable record ends a sorted fetch, and the decoded values are released`()
    throws
  {
    try withTemporaryStore([Fussy.self]) { store in
      try store.write { transaction in
        _ = try transaction.insert(
          (0..<500).map { Fussy(number: ($0 * 37) % 500, isWanted: $0 != 300) })
      }
      #expect(Fussy.Token.liveCount.load(ordering: .relaxed) == 0)
      try store.read { snapshot throws in
        #expect(throws: StoreError.self) { () throws in
          _ = try snapshot.fetch(Fussy.all.sorted(by: \.number.descending))
        }
        #expect(Fussy.Token.liveCount.load(ordering: .relaxed) == 0)
        let few = try snapshot.fetch(
          Fussy.where { $0.isWanted == true }.sorted(by: \.number.descending))
        #expect(few.map(\.number) == (0..<500).reversed().filter { $0 != 300 * 37 % 500 })
      }
    }
  }
}

/// An entity that does not decode when it is not wanted.
private struct Fussy: Entity {
  /// A value that counts how many of its kind are in memory.
  final class Token: Sendable {
    static let liveCount = Atomic(0)

    init() { Self.liveCount.add(1, ordering: .relaxed) }
    deinit { Self.liveCount.subtract(1, ordering: .relaxed) }
  }

  var id = RecordID<Fussy>()
  var number: Int
  var isWanted: Bool
  private let token = Token()

  init(number: Int, isWanted: Bool) {
    self.number = number
    self.isWanted = isWanted
  }

  struct Attributes: Sendable {
    var id: Attribute<Fussy, RecordID<Fussy>> { .recordID }
    var number: Attribute<Fussy, Int> { .init(0) }
    var isWanted: Attribute<Fussy, Bool> { .init(1) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Fussy>(
    "Fussy", attributes: [.init("number", \.number), .init("isWanted", \.isWanted)])

  func encode(into writer: inout RecordWriter) {
    writer.write(number)
    writer.write(isWanted)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    number = try reader.read()
    isWanted = try reader.read()
    if !isWanted { throw reader.undecodable(.bool, "it is not wanted") }
  }
}
