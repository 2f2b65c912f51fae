import EntityStore
import Testing

@Suite struct `Tests of bits` {
  private struct Rights: OptionSet, Sendable {
    let rawValue: Int
    static let read = Rights(rawValue: 1)
    static let write = Rights(rawValue: 2)
    static let share = Rights(rawValue: 4)
  }

  private struct Item: Entity {
    var id = RecordID<Item>()
    var flags: Int32
    var mask: UInt64
    var rights: Rights?
    var kept: Rights = []

    struct Attributes: Sendable {
      var id: Attribute<Item, Item.ID> { .recordID }
      var flags: Attribute<Item, Int32> { .init(0) }
      var mask: Attribute<Item, UInt64> { .init(1) }
      var bits: Attribute<Item, Int?> { .init(2) }
      var kept: Attribute<Item, Rights> { .init(3) }
    }

    static var attributes: Attributes { Attributes() }

    static let schema = EntitySchema<Item>(
      "Item",
      attributes: [
        .init("flags", \.flags), .init("mask", \.mask), .init("bits", \.bits),
        .init("kept", \.kept),
      ])

    var bits: Int? { rights?.rawValue }

    init(flags: Int32, mask: UInt64, rights: Rights?, kept: Rights) {
      (self.flags, self.mask, self.rights, self.kept) = (flags, mask, rights, kept)
    }

    init(from reader: inout RecordReader) throws(StoreError) {
      flags = try reader.read()
      mask = try reader.read()
      let bits: Int? = try reader.read()
      rights = bits.map { Rights(rawValue: $0) }
      kept = try reader.read()
    }

    func encode(into writer: inout RecordWriter) {
      writer.write(flags)
      writer.write(mask)
      writer.write(bits)
      writer.write(kept)
    }
  }

  @Test func `tests of bits agree with Swift's operators`() throws {
    try withTemporaryStore([Item.self]) { store in
      var numbers = SeededNumbers(salt: 31)
      try store.insert(
        (0..<400).map { number in
          Item(
            flags: Int32(truncatingIfNeeded: numbers.next()), mask: numbers.next(),
            rights: number % 3 == 0 ? nil : Rights(rawValue: numbers.below(8)),
            kept: Rights(rawValue: numbers.below(8)))
        })
      let items = try store.fetch(Item.all)
      let high: UInt64 = 1 << 63
      let cases: [(Condition<Item>, (Item) -> Bool)] = [
        (Condition { $0.flags & 4 != 0 }, { $0.flags & 4 != 0 }),
        (Condition { $0.flags & -8 == 16 }, { $0.flags & -8 == 16 }),
        (Condition { $0.flags | 0x7FFF_FFF0 > 0 }, { $0.flags | 0x7FFF_FFF0 > 0 }),
        (Condition { $0.flags ^ 0x55 < 0 }, { $0.flags ^ 0x55 < 0 }),
        (Condition { $0.mask & high == high }, { $0.mask & high == high }),
        (Condition { $0.mask | 1 == $0.mask }, { $0.mask & 1 == 1 }),
        (Condition { $0.bits & 2 == 2 }, { ($0.bits ?? 0) & 2 == 2 }),
        (Condition { $0.bits & 2 == nil }, { $0.bits == nil }),
        (
          Condition { $0.kept.contains([.read, .share]) },
          { $0.kept.isSuperset(of: [.read, .share]) }
        ),
        (Condition { $0.kept.contains([]) }, { _ in true }),
      ]
      for (condition, isTrue) in cases {
        let expected = items.filter(isTrue).map(\.id)
        #expect(try store.fetch(Item.where(condition)).map(\.id) == expected, "\(condition)")
        let again = try Condition<Item>(format: condition.description)
        #expect(try store.count(Item.where(again)) == expected.count, "\(condition)")
      }
    }
  }

  @Test(arguments: [
    ("isSeen & number == 1", "bits of a Boolean"), ("name & 1 == 1", "bits of a string"),
    ("number == 1 & isSeen", "bits of a Boolean"),
  ])
  func `tests of bits on values without bits are refused`(format: String, part: String) throws {
    try withTemporaryStore([Piece.self]) { store in
      let error = #expect(throws: StoreError.self) {
        try store.count(try Piece.where(format: format))
      }
      #expect(error?.code == .invalidQuery)
      #expect(error?.message.contains(part) == true, "\(error?.message ?? "")")
    }
  }
}
