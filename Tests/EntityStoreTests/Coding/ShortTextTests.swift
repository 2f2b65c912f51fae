import Testing

@testable import EntityStore

/// Texts that the store makes from machine words equal the texts that the standard library makes.
@Suite struct `Short texts` {
  /// The text of bytes in an allocation of their exact size, so that the address sanitizer sees a
  /// read beyond it.
  private func made(_ bytes: [UInt8]) -> String? {
    let memory = UnsafeMutableRawPointer.allocate(byteCount: bytes.count, alignment: 1)
    defer { memory.deallocate() }
    memory.copyMemory(from: bytes, byteCount: bytes.count)
    return ShortText.text(memory, bytes.count)
  }

  private func bits(of text: String) -> [UInt8] { withUnsafeBytes(of: text) { Array($0) } }

  @Test(.enabled(if: MemoryLayout<Int>.size == 8)) func `short texts are made on this platform`() {
    #expect(ShortText.isUsable)
  }

  @Test(.enabled(if: ShortText.isUsable))
  func `short texts of ASCII equal ordinary strings to the last bit`() throws {
    var numbers = SeededNumbers(salt: 1_301)
    for round in 0..<4_000 {
      let bytes = (0..<round % 16).map { _ in UInt8(numbers.below(128)) }
      let text = try #require(made(bytes))
      let usual = String(decoding: bytes, as: UTF8.self)
      #expect(bits(of: text) == bits(of: usual))
      #expect(text == usual)
      #expect(text.hashValue == usual.hashValue)
      #expect(Array(text.utf8) == bytes)
      var grown = text
      grown += "and more than is kept in place"
      #expect(grown == usual + "and more than is kept in place")
      #expect(text == usual)
    }
  }

  @Test(.enabled(if: ShortText.isUsable))
  func `a byte that is not ASCII sends a text to the standard library, wherever it is`() {
    for count in 1...15 {
      for index in 0..<count {
        var bytes = [UInt8](repeating: 0x61, count: count)
        bytes[index] = 0x80
        #expect(made(bytes) == nil, "\(index) of \(count)")
      }
    }
  }

  @Test func `texts of every length are read as they were written`() throws {
    let texts = (0...40).flatMap { count in
      [String(repeating: "a", count: count), String(repeating: "ü", count: count)]
        + (count > 0 ? [String(repeating: "b", count: count - 1) + "é"] : [])
    }
    try withTemporaryStore([Mote.self]) { store in
      // Each text occurs three times, so that some are read before the table remembers them.
      let all = texts + texts + texts
      try store.write { transaction in
        try transaction.insert(
          all.enumerated().map { Mote(number: $0, text: $1) })
      }
      let fetched = try store.read { try $0.fetch(Mote.all) }
      #expect(fetched.map(\.text) == all)
      for (number, text) in texts.enumerated() {
        let one = try store.read { try $0.first(Mote.where { $0.number == number }) }
        #expect(one?.text == text)
      }
    }
  }
}
