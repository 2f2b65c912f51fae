import Testing

@testable import EntityStore

/// Index entries over a single number, which are sorted as words.
@Suite struct `Entries over one number` {
  private func packed(_ entries: [SortItem]) -> [SortItem]? {
    var entries = entries
    return entries.withUnsafeMutableBufferPointer { entries in
      PackedNumbers(packing: entries).map { packed in entries.indices.map { packed[$0] } }
    }
  }

  private func expectSorted(_ entries: [SortItem], _ result: [SortItem], _ context: String) {
    let sorted = entries.sorted { ($0.word, $0.payload) < ($1.word, $1.payload) }
    #expect(result.map(\.word) == sorted.map(\.word), "\(context)")
    #expect(result.map(\.payload) == sorted.map(\.payload), "\(context)")
  }

  @Test func `entries over one number are packed if their differences fit a word`() {
    var numbers = SeededNumbers(salt: 941)
    for round in 0..<200 {
      let count = 2 + numbers.below(700)
      let shift = UInt64(numbers.below(40))
      let lowest = numbers.next() >> 4
      let span = UInt64(1) << UInt64(1 + numbers.below(23))
      var id = numbers.next() >> 20
      let entries = (0..<count).map { _ in
        id += 1 + UInt64(numbers.below(3))
        return SortItem(word: lowest &+ (numbers.next() % span) << shift, payload: id)
      }
      let context = "round \(round), \(SeededNumbers.replay)"
      if let result = packed(entries) {
        expectSorted(entries, result, context)
      } else {
        Issue.record("22 bits of a number and 11 of an id were not packed: \(context)")
      }
    }
  }

  @Test func `entries over one number are packed up to the last bit of a word and no further`() {
    for idBits in [2, 20, 62, 63] {
      let lastID = UInt64(1) << UInt64(idBits) - 1
      let highest = UInt64.max >> UInt64(idBits)
      func entries(lastID: UInt64) -> [SortItem] {
        [
          SortItem(word: highest, payload: 0), SortItem(word: 0, payload: 1),
          SortItem(word: highest - 1, payload: lastID),
        ]
      }
      if let result = packed(entries(lastID: lastID)) {
        expectSorted(entries(lastID: lastID), result, "\(idBits) bits")
      } else {
        Issue.record("64 bits were not packed, \(idBits) of them of ids")
      }
      #expect(packed(entries(lastID: lastID + 1)) == nil, "\(idBits) bits")
    }
    let all = [SortItem(word: .max, payload: 4), SortItem(word: 0, payload: 5)]
    #expect(packed(all) == nil)
    let same = [SortItem(word: .max, payload: 4), SortItem(word: .max, payload: 5)]
    #expect(packed(same)?.map(\.payload) == [4, 5])
    #expect(packed([]) == nil && packed([all[0]]) == nil)
  }

  /// The entries of the second batch are between the entries of the first, so they cannot be
  /// appended.
  @Test func `entries over one number in several blocks are merged with the stored ones`() throws {
    var numbers = SeededNumbers(salt: 942)
    let serials = (0..<2_000).shuffled(using: &numbers)
    let gauges = serials.map { number in
      Gauge(
        serial: Int64(number) - 1_000, level: numbers.oneIn(5) ? nil : Int16(numbers.below(90)),
        ratio: numbers.oneIn(9) ? -0.0 : Double(numbers.below(1_000)) / 7, isOn: numbers.oneIn(3))
    }
    try withTemporaryStore([Gauge.self]) { store in
      try store.write { transaction in
        try transaction.insert(gauges[..<1_100])
        _ = try storeError(.uniqueViolation) {
          try transaction.insert(gauges[1_099...])
        }
        try transaction.insert(gauges[1_100...])
      }
      try store.read { snapshot throws in
        #expect(
          try snapshot.fetch(Gauge.index(\.serial)).map(\.serial)
            == (0..<2_000).map { Int64($0) - 1_000 })
        let positions = gauges.indices
        func ids(_ order: (Int, Int) -> Bool) -> [UInt64] {
          positions.sorted(by: order).map { UInt64($0 + 1) }
        }
        // The expected order comes from a stable sort, which keeps equal values in the order of
        // their ids.
        #expect(
          try snapshot.ids(Gauge.index(\.level)).map(\.rawValue)
            == ids { gauges[$0].level.map(Int.init) ?? -1 < gauges[$1].level.map(Int.init) ?? -1 })
        #expect(
          try snapshot.ids(Gauge.index(\.ratio)).map(\.rawValue)
            == ids { gauges[$0].ratio < gauges[$1].ratio })
        #expect(
          try snapshot.ids(Gauge.index(\.isOn)).map(\.rawValue)
            == ids { !gauges[$0].isOn && gauges[$1].isOn })
      }
    }
  }
}

/// An entity with indexed numbers of several widths.
private struct Gauge: Entity {
  var id = RecordID<Gauge>()
  var serial: Int64
  var level: Int16?
  var ratio: Double
  var isOn: Bool

  init(serial: Int64, level: Int16?, ratio: Double, isOn: Bool) {
    self.serial = serial
    self.level = level
    self.ratio = ratio
    self.isOn = isOn
  }

  struct Attributes: Sendable {
    var id: Attribute<Gauge, RecordID<Gauge>> { .recordID }
    var serial: Attribute<Gauge, Int64> { .init(0) }
    var level: Attribute<Gauge, Int16?> { .init(1) }
    var ratio: Attribute<Gauge, Double> { .init(2) }
    var isOn: Attribute<Gauge, Bool> { .init(3) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Gauge>(
    "Gauge",
    attributes: [
      .init("serial", \.serial), .init("level", \.level), .init("ratio", \.ratio),
      .init("isOn", \.isOn),
    ],
    unique: [[\.serial]], indexes: [[\.level], [\.ratio], [\.isOn]])

  func encode(into writer: inout RecordWriter) {
    writer.write(serial)
    writer.write(level)
    writer.write(ratio)
    writer.write(isOn)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    serial = try reader.read()
    level = try reader.read()
    ratio = try reader.read()
    isOn = try reader.read()
  }
}
