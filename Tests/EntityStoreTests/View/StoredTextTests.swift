import EntityStore
import Foundation
import Testing

@Suite struct `Stored texts` {
  /// Visits a record for each of the texts that break comparisons.
  private func withTexts(
    _ body: (borrowing EntityView<AllTypes>, String) throws -> Void
  ) throws {
    try withTemporaryStore([AllTypes.self]) { store in
      let texts = Specimen.texts
      _ = try store.write { tx in
        try tx.insert(
          texts.map { text in
            var value = AllTypes()
            value.string = text
            value.data = Data(text.utf8)
            return value
          })
      }
      try store.read { snapshot in
        var visited = 0
        try snapshot.forEachView(AllTypes.all) { view in
          try body(view, texts[visited])
          visited += 1
        }
        #expect(visited == texts.count)
      }
    }
  }

  @Test func `the equality of stored texts is that of String`() throws {
    let others = Specimen.texts + ["K", ";", "\u{37e}", "a\u{323}\u{301}", "\u{1ea1}\u{301}"]
    try withTexts { view, text in
      for other in others {
        let (isEqual, isUnequal) = (view.string == other, view.string != other)
        #expect(isEqual == (text == other) && isUnequal != isEqual, "\(text) and \(other)")
      }
    }
  }

  @Test func `the prefixes of stored texts are those of String`() throws {
    let prefixes = Specimen.texts + ["\r", "c", "caf", "cafe\u{301}x"]
    try withTexts { view, text in
      for prefix in prefixes {
        let isPrefix = view.string.hasPrefix(prefix)
        #expect(isPrefix == text.hasPrefix(prefix), "\(text) and \(prefix)")
      }
    }
  }

  @Test func `the bytes of a stored text are returned unchanged`() throws {
    try withTexts { view, text in
      let utf8 = view.string.withUTF8 { Array($0) }
      #expect(utf8 == Array(text.utf8))
      let (count, isEmpty) = (view.string.utf8Count, view.string.isEmpty)
      #expect(count == utf8.count && isEmpty == utf8.isEmpty)
      let data = view.data.withUnsafeBytes { Data($0) }
      let (dataCount, isDataEmpty) = (view.data.count, view.data.isEmpty)
      #expect(data == Data(text.utf8) && dataCount == count && isDataEmpty == isEmpty)
      let (isEqual, isUnequal) = (view.data == data, view.data != data)
      #expect(isEqual && !isUnequal)
      let isLonger = view.data == data + [0]
      #expect(!isLonger)
    }
  }

  @Test func `texts of two attributes are compared with each other`() throws {
    try withTemporaryStore([Pod.self]) { store in
      let pairs = [("a", "a"), ("a", "b"), ("caf\u{e9}", "cafe\u{301}"), ("", "a"), ("", "")]
      _ = try store.write { tx in
        try tx.insert(pairs.map { Pod(name: $0.0, version: $0.1) })
      }
      var areEqual: [Bool] = []
      try store.read { snapshot in
        try snapshot.forEachView(Pod.all) { view in
          areEqual.append(view.name == view.version)
        }
      }
      #expect(areEqual == [true, false, true, false, true])
    }
  }
}
