import EntityStore
import Foundation
import LodestoreFormat
import Testing

@testable import EntityStore

@Suite("Groups that do not fit in memory")
struct GroupSpillingTests {
  private static let terms =
    ["int", "ratio", "amount", "big", "single"].flatMap {
      [GroupTerm(.sum, ValuePath(attribute: $0)), GroupTerm(.average, ValuePath(attribute: $0))]
    }
    + ["name", "date", "token", "blob", "amount", "extra", "flag", "int"].flatMap {
      [GroupTerm(.min, ValuePath(attribute: $0)), GroupTerm(.max, ValuePath(attribute: $0))]
    } + [GroupTerm(.count), GroupTerm(.count, ValuePath(attribute: "name"))]

  private func withSpecimens(_ count: Int, _ body: (TransactionCore) throws -> Void) throws {
    var random = SeededNumbers(salt: 0x5EED)
    let specimens = (0..<count).map { Specimen.nasty(serial: $0, &random) }
    try withTemporaryStore([Specimen.self]) { store in
      try store.insert(specimens)
      try store.core.read { try body($0) }
    }
  }

  /// Sums of doubles by parts may differ in their last bits.
  private func agree(_ a: Value, _ b: Value) -> Bool {
    if case .double(let a) = a, case .double(let b) = b, a.isFinite, b.isFinite {
      return abs(a - b) <= 1e-9 * max(abs(a), abs(b))
    }
    return "\(a)" == "\(b)"
  }

  private func expectSame(_ rows: [GroupRow], _ others: [GroupRow], _ comment: Comment) {
    #expect(rows.count == others.count, comment)
    for (row, other) in zip(rows, others) {
      #expect("\(row.keys)" == "\(other.keys)" && row.count == other.count, comment)
      #expect(zip(row.values, other.values).allSatisfy(agree), comment)
    }
  }

  @Test(arguments: [0, 3_000, 40_000])
  func `groups from a file of runs equal groups in memory`(memory: Int) throws {
    try withSpecimens(600) { core in
      for keys in [
        ["int"], ["name"], ["ratio"], ["date"], ["amount"], ["token"], ["blob"], ["json"],
        ["serial"], ["flag"], ["name", "single"], ["url", "json"],
      ] {
        let paths = keys.map { ValuePath(attribute: $0) }
        let run = try core.run(Specimen.all.unordered())
        let expected = try run.groups(by: paths, Self.terms)
        run.groupMemory = memory
        expectSame(try run.groups(by: paths, Self.terms), expected, "\(keys)")
        run.groupMemory = .max
        expectSame(try run.groups(by: paths, Self.terms), expected, "\(keys)")
      }
    }
  }

  @Test(arguments: [0, 3_000])
  func `groups equal those from entries in another order`(memory: Int) throws {
    try withSpecimens(600) { core in
      let attributes = ["int", "small"].map { ValuePath(attribute: $0) }
      let terms = [
        GroupTerm(.count), GroupTerm(.sum, attributes[0]), GroupTerm(.max, attributes[1]),
        GroupTerm(.min, attributes[0]), GroupTerm(.average, attributes[1]),
      ]
      let run = try core.run(Specimen.all.unordered())
      let expected = try run.groups(by: attributes, terms)
      run.groupMemory = memory
      expectSame(try run.groups(by: attributes, terms), expected, "entries")
      #expect(run.counts.recordsRead == 0 && run.counts.entriesRead == 1_200)
    }
  }

  @Test func `groups from entries omit not-a-number, wherever it occurs`() throws {
    try withTemporaryStore([Specimen.self]) { store in
      let dates = [Double.nan, 5, .nan].map { Date(timeIntervalSinceReferenceDate: $0) }
      try store.insert(
        zip([Decimal.nan, 3, .nan], dates).enumerated().map {
          var specimen = Specimen(serial: $0.offset)
          (specimen.amount, specimen.date) = $0.element
          return specimen
        })
      try store.core.read { core in
        let terms = ["amount", "date"].flatMap {
          [GroupTerm(.min, ValuePath(attribute: $0)), GroupTerm(.max, ValuePath(attribute: $0))]
        }
        let three = Value.decimal(DecimalValue(isNegative: false, exponent: 0, significand: 3))
        let rows = try core.run(Specimen.all).groups(by: [ValuePath(attribute: "flag")], terms)
        #expect(rows.map(\.values) == [[three, three, .date(5), .date(5)]])
      }
    }
  }

  @Test func `groups that spill leave no file`() throws {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.storePath, entities: [Trial.self])
    try Trial.make(500, in: store)
    try store.core.read { core in
      let run = try core.run(Trial.all)
      run.groupMemory = 1_000
      struct Stop: Error {}
      #expect(throws: StoreError.self) {
        try run.forEachGroup(by: [ValuePath(attribute: "note")], []) { _ throws(StoreError) in
          throw .badQuery("enough")
        }
      }
      #expect(try run.groups(by: [ValuePath(attribute: "json")]).count == 6)
    }
    store.close()
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(names.allSatisfy { !$0.hasPrefix(".lodestore.") })
    try expectSound(folder.storePath)
  }

  @Test func `groups stay in memory if no file can be made`() throws {
    var spilling = GroupSpilling(memory: 10, beside: "/nowhere/to/be/found", [])
    #expect(spilling.isDue(11))
    #expect(try spilling.begin() == nil)
    #expect(!spilling.isDue(11))
  }
}
