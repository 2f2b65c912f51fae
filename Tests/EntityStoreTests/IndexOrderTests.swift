import EntityStore
import Foundation
import Testing

/// Every indexable type: values in ascending order, inserted in a random one, are walked in order.
@Suite struct `Order of indexes` {
  private func expectOrder<V: IndexableValue>(
    _ attribute: KeyPath<AllTypes.Attributes, Attribute<AllTypes, V>>,
    _ path: WritableKeyPath<AllTypes, V>, _ ascending: [V],
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    try expectOrder(attribute, path, ascending, asBatch: false, sourceLocation: sourceLocation)
    try expectOrder(attribute, path, ascending, asBatch: true, sourceLocation: sourceLocation)
  }

  private func expectOrder<V: IndexableValue>(
    _ attribute: KeyPath<AllTypes.Attributes, Attribute<AllTypes, V>>,
    _ path: WritableKeyPath<AllTypes, V>, _ ascending: [V], asBatch: Bool,
    sourceLocation: SourceLocation
  ) throws {
    let index = AllTypes.index(attribute)
    try withTemporaryStore([AllTypes.self]) { store in
      var numbers = SeededNumbers(salt: 2)
      var idOfPosition: [Int: RecordID<AllTypes>] = [:]
      try store.write { transaction in
        let positions = ascending.indices.shuffled(using: &numbers)
        let values = positions.map { position in
          var value = AllTypes()
          value[keyPath: path] = ascending[position]
          return value
        }
        let ids =
          if asBatch {
            try Array(transaction.insert(values).ids)
          } else {
            try values.map { try transaction.insert($0).id }
          }
        idOfPosition = Dictionary(uniqueKeysWithValues: zip(positions, ids))
      }
      let ordered = ascending.indices.compactMap { idOfPosition[$0] }
      try store.read { snapshot throws in
        let context = "\(V.self), \(SeededNumbers.replay)"
        #expect(try snapshot.ids(index) == ordered, "\(context)", sourceLocation: sourceLocation)
        #expect(
          try snapshot.ids(index, isReversed: true) == ordered.reversed(), "\(context)",
          sourceLocation: sourceLocation)
        for (position, value) in ascending.enumerated() {
          let found = try snapshot.fetch(index.key(value))?.id
          #expect(found == ordered[position], "\(context)", sourceLocation: sourceLocation)
          let from = try snapshot.ids(index, within: .init().from(value))
          #expect(from == Array(ordered[position...]), sourceLocation: sourceLocation)
          let upTo = try snapshot.ids(index, within: .init().upTo(value))
          #expect(upTo == Array(ordered[..<position]), sourceLocation: sourceLocation)
        }
      }
    }
  }

  @Test func `numbers are in the order of their values`() throws {
    try expectOrder(\.bool, \.bool, [false, true])
    try expectOrder(\.int8, \.int8, [.min, -1, 0, 1, .max])
    try expectOrder(\.int16, \.int16, [.min, -257, -256, -255, -1, 0, 1, 255, 256, .max])
    try expectOrder(\.int32, \.int32, [.min, -65_536, -1, 0, 65_535, 65_536, .max])
    try expectOrder(\.int64, \.int64, [.min, .min + 1, -1 << 40, 0, 1 << 40, .max - 1, .max])
    try expectOrder(\.int, \.int, [.min, -1, 0, 1, .max])
    try expectOrder(\.uint8, \.uint8, [0, 1, 127, 128, .max])
    try expectOrder(\.uint16, \.uint16, [0, 255, 256, .max])
    try expectOrder(\.uint32, \.uint32, [0, 65_535, .max])
    try expectOrder(\.uint64, \.uint64, [0, 1, UInt64(Int64.max), UInt64(Int64.max) + 1, .max])
    try expectOrder(\.uint, \.uint, [0, .max])
    try expectOrder(
      \.float, \.float,
      [-.infinity, -1.5, -.leastNonzeroMagnitude, 0, .leastNormalMagnitude, 3, .infinity, .nan])
    try expectOrder(
      \.double, \.double,
      [
        -.infinity, -.greatestFiniteMagnitude, -1, -.leastNonzeroMagnitude, 0,
        .leastNonzeroMagnitude, 1,
        .infinity, .nan,
      ])
  }

  @Test func `text is in the order of its normalized UTF-8 bytes`() throws {
    try expectOrder(
      \.string, \.string,
      [
        "", "\u{0}", "\u{0}\u{0}", "\u{1}", "A", "A\u{0}b", "A\u{1}", "AB", "B", "e", "z", "é",
        "e\u{301}a", "éb", "\u{ffff}", "\u{10000}",
      ])
    try expectOrder(
      \.url, \.url,
      ["a", "https://a.org", "https://a.org/b", "https://b.org"].map { AllTypes.url($0) })
    try expectOrder(\.stage, \.stage, [.draft, .released, .yanked])
  }

  @Test func `bytes, times and identifiers are in order`() throws {
    try expectOrder(
      \.data, \.data,
      [[], [0], [0, 0], [0, 255], [1], [254, 255], [255], [255, 0], [255, 255]].map { Data($0) })
    try expectOrder(
      \.date, \.date,
      [
        .distantPast, Date(timeIntervalSinceReferenceDate: -0.5),
        Date(timeIntervalSinceReferenceDate: 0), Date(timeIntervalSinceReferenceDate: 1e-9),
        .distantFuture,
      ])
    let ids = [
      "00000000-0000-0000-0000-000000000001", "7FFFFFFF-0000-0000-0000-000000000000",
      "80000000-0000-0000-0000-000000000000", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
    ]
    try expectOrder(\.uuid, \.uuid, ids.compactMap { UUID(uuidString: $0) })
    try expectOrder(\.optionalUUID, \.optionalUUID, [nil] + ids.map { UUID(uuidString: $0) })
  }

  @Test func `decimals are in the order of their values`() throws {
    let texts = [
      "-1e127", "-100", "-99.99", "-1", "-0.1", "-0.01", "0", "0.001", "0.0011", "0.1",
      "1", "1.0000000000000000000000000001", "9", "10", "11", "1e127",
    ]
    try expectOrder(\.decimal, \.decimal, texts.compactMap { Decimal(string: $0) } + [.nan])
    try expectOrder(
      \.optionalDecimal, \.optionalDecimal, [nil] + texts.map { Decimal(string: $0) } + [.nan])
  }

  @Test func `null is before every other value`() throws {
    try expectOrder(\.optionalString, \.optionalString, [nil, "", "\u{0}", "a"])
  }

  @Test func `both zeros are one key, and so are NaNs with different payloads`() throws {
    try withTemporaryStore([AllTypes.self]) { store in
      let nan = Double(bitPattern: 0xfff8_0000_0000_0007)
      try store.write { transaction in
        for double in [0.0, -0.0, .nan, nan] {
          var value = AllTypes()
          value.double = double
          try transaction.insert(value)
        }
      }
      try store.read { snapshot throws in
        let index = AllTypes.index(\.double)
        #expect(try snapshot.count(index, within: .init().from(0.0).through(-0.0)) == 2)
        #expect(
          try snapshot.ids(index, within: .init().after(.infinity)).map(\.rawValue) == [3, 4])
        #expect(try snapshot.ids(index, within: .init().from(nan)).map(\.rawValue) == [3, 4])
      }
    }
  }

  @Test func `records with equal keys come in the order of insertion, reversed backwards`() throws {
    try withTemporaryStore([Film.self]) { store in
      try store.write { transaction in
        for episode in 1...5 { try transaction.insert(Film(title: "same", episode: episode)) }
      }
      try store.read { snapshot throws in
        #expect(try snapshot.fetch(Film.byTitle).map(\.episode) == [1, 2, 3, 4, 5])
        let last = try snapshot.fetch(Film.byTitle, isReversed: true, limit: 2).map(\.episode)
        #expect(last == [5, 4])
        #expect(try snapshot.fetch(Film.byTitle.key("same"))?.episode == 1)
        #expect(try snapshot.fetch(Film.byTitle, limit: 0).isEmpty)
        #expect(try snapshot.ids(Film.byTitle, limit: 0).isEmpty)
        #expect(try snapshot.fetch(Film.byTitle, within: .init().after("same")).isEmpty)
        #expect(try snapshot.fetch(Film.byTitle, within: .init().upTo("same")).isEmpty)
        let inverted = IndexBounds<String>().from("z").through("a")
        #expect(try snapshot.fetch(Film.byTitle, within: inverted).isEmpty)
        #expect(try snapshot.fetch(Film.byTitle, within: inverted, isReversed: true).isEmpty)
      }
    }
  }

  @Test func `an index that the entity lacks is refused, naming its indexes`() throws {
    try withTemporaryStore([Film.self]) { store in
      let error = try storeError(.unknownIndex) {
        _ = try store.read { try $0.ids(Film.index(\.title, \.episode)) }
      }
      #expect(error.message.contains("title+episode") && error.message.contains("Film.title"))
    }
  }
}
