import LodestoreBytes
import Testing

@testable import EntityStore

/// Repeated texts in the results of a call share their bytes.
@Suite struct `Shared texts` {
  /// The address of a text's bytes; `nil` for a short text, which Swift stores in place.
  private func address(of text: String) -> UnsafeRawPointer? {
    text.utf8.count <= 15
      ? nil
      : text.utf8.withContiguousStorageIfAvailable { UnsafeRawPointer($0.baseAddress) } ?? nil
  }

  /// Texts with lengths around the one from which Swift allocates memory.
  ///
  /// Some texts use the same slot of the table, because they have equal lengths, beginnings and
  /// ends.
  private func texts(_ count: Int, _ numbers: inout SeededNumbers) -> [String] {
    let some = (0..<40).map { kind in
      let length = 12 + kind % 8
      return String(String(repeating: "ab", count: 20).prefix(length - 2)) + "\(10 + kind)"
    }
    let alike = (0..<5).map { "the same beginning, \($0)\($0 * 7), and the same end" }
    let wide = ["ü", "日本", "👩‍👩‍👧‍👦"].map { String(repeating: $0, count: 9) }
    let all = some + alike + wide + ["", "x"]
    return (0..<count).map { index in
      numbers.oneIn(4) ? "only of this record: \(index) of all" : all[numbers.below(all.count)]
    }
  }

  @Test func `every way to read returns the inserted texts`() throws {
    var numbers = SeededNumbers(salt: 1_201)
    var texts = texts(3_000, &numbers)
    // Some records among the others are wide, and two of their texts are equal.
    for index in [1_500, 1_501, 2_000] { texts[index] = String(repeating: "wide ", count: 14_000) }
    try withTemporaryStore([Mote.self]) { store in
      let ids = try store.write { transaction in
        try transaction.insert(
          texts.enumerated().map { Mote(number: $0 * 2, text: $1) })
      }.ids
      try store.read { transaction in
        let byNumber = Mote.index(\.number)
        #expect(try transaction.fetch(Mote.all).map(\.text) == texts)
        let reversed = Mote.all.sorted(by: \.number.descending)
        #expect(try transaction.fetch(reversed).map(\.text) == texts.reversed())
        let long = Mote.where { $0.number >= 1_000 }
        #expect(try transaction.fetch(long).map(\.text) == Array(texts[500...]))
        #expect(try transaction.fetch(Array(ids)).map(\.text) == texts)
        let keys = (0..<3_000).map { $0 * 2 }
        #expect(try transaction.fetch(byNumber, keys: keys).map { $0?.text } == texts)
        var visited: [String] = []
        try transaction.forEach(Mote.all) { mote in
          visited.append(mote.text)
        }
        #expect(visited == texts)
        #expect(try transaction.fetch(byNumber).map(\.text) == texts)
        let page = try transaction.page(Mote.all.limit(2_000))
        #expect(page.items.map(\.text) == Array(texts[..<2_000]))
      }
    }
  }

  @Test func `equal texts of one call share their storage`() throws {
    try withTemporaryStore([Mote.self]) { store in
      let shared = "the text of every second record"
      try store.write { transaction in
        try transaction.insert(
          (0..<4_000).map { number in
            Mote(
              number: number,
              text: number < 2_000
                ? number % 2 == 0 ? shared : "a text of its own: \(number)"
                : "another of its own: \(number)")
          })
      }
      var motes = try store.read { try $0.fetch(Mote.all) }
      #expect(motes.count == 4_000)
      let addresses = Set(motes[..<2_000].filter { $0.text == shared }.map { address(of: $0.text) })
      // Until the table remembers the text, each record has its own copy. Later records share one
      // copy, and a new one after each replacement of the text in the table.
      #expect((33...45).contains(addresses.count))
      #expect(Set(motes.map { address(of: $0.text) }).count == addresses.count + 3_000)
      // A change of one text leaves the other texts unchanged, although they share their bytes.
      motes[1_000].text += "!"
      #expect(motes[1_002].text == shared)
    }
  }

  @Test func `an attribute whose texts differ is no longer compared`() {
    var table = TextTable()
    defer { table.deallocate() }
    // Both texts stay alive, because otherwise the second could reuse the address of the first.
    let isShared = { (table: inout TextTable) in
      let texts = (0..<2).map { _ in Self.text("the same text again", &table) }
      return address(of: texts[0]) == address(of: texts[1])
    }
    #expect(isShared(&table))
    for number in 0..<300 { _ = Self.text("a text of its own: \(number)", &table) }
    #expect(!isShared(&table))
  }

  @Test func `bytes that are not UTF-8 are repaired equally each time`() {
    var table = TextTable()
    defer { table.deallocate() }
    let bytes = Array("a text with a fault in its ".utf8) + [0xff, 0x20] + Array("end".utf8)
    for _ in 0..<600 {
      let text = bytes._withBytes { table.text($0) }
      #expect(text == "a text with a fault in its \u{fffd} end")
    }
  }

  private static func text(_ text: String, _ table: inout TextTable) -> String {
    Array(text.utf8)._withBytes { table.text($0) }
  }
}
