import Foundation
import LodestoreFormat
import Testing

@testable import EntityStore

/// References are made from keys, stored, and read back.
@Suite struct `References` {
  @Test func `a key of one attribute is stored as that attribute`() throws {
    try expectStored([Int8.min, 0, Int8.max], as: .int8)
    try expectStored([Int.min, -1, 0, 7, Int.max], as: .int64)
    try expectStored([UInt64.min, UInt64.max], as: .uint64)
    try expectStored([UInt16.max], as: .uint16)
    try expectStored([true, false], as: .bool)
    try expectStored([Double.infinity, -0.5, .leastNonzeroMagnitude], as: .double)
    try expectStored([Float.greatestFiniteMagnitude, 0.1], as: .float)
    try expectStored(texts, as: .string)
    try expectStored(dates, as: .date)
    try expectStored([UUID(), UUID()], as: .uuid)
    try expectStored([Data(), Data([0, 255, 0])], as: .data)
    try expectStored([Decimal(string: "12.50"), -3].compactMap { $0 }, as: .decimal)
    try expectStored([URL(string: "https://x.org/a?b")].compactMap { $0 }, as: .url)
    try expectStored([Tint.red, .blue], as: .string)
  }

  @Test func `a key of two attributes is stored as the text of a JSON array`() throws {
    try expectText([Int.min, 0, Int.max], [#"[-9223372036854775808,1]"#, "[0,1]", nil])
    try expectText([UInt64.max], ["[18446744073709551615,1]"])
    try expectText([true], ["[true,1]"])
    try expectText([0.1, -.infinity, 1e300], ["[0.1,1]", #"["-inf",1]"#, "[1e+300,1]"])
    try expectText([Float(0.1)], [nil])
    try expectText(["Ab", "ab", "a\"b\\\u{0}"], [#"["Ab",1]"#, #"["ab",1]"#, nil])
    try expectText(texts, texts.map { _ in nil })
    try expectText(
      dates, [#"["2001-01-01T00:00:00Z",1]"#] + Array(repeating: nil, count: dates.count - 1))
    try expectText([UUID()], [nil])
    try expectText([Data([1, 2, 3])], [#"["AQID",1]"#])
    try expectText([Decimal(12), -3], [#"["12",1]"#, nil])
    try expectText([URL(string: "https://x.org/a")].compactMap { $0 }, [#"["https://x.org/a",1]"#])
    try expectText([Tint.blue], [#"["blue",1]"#])
  }

  /// Texts that differ only in case, marks or signs.
  private var texts: [String] {
    [
      "", "a", "A", "é", "\u{301}", "a\u{0}b", "\"", "[1,2]", "日本",
      String(repeating: "x", count: 900),
    ]
  }

  private var dates: [Date] {
    [0, -1.5, 3e8 + 0.1, 1.1e-11, 5e13].map { Date(timeIntervalSinceReferenceDate: $0) }
  }

  enum Tint: String, IndexableValue { case red, blue }

  /// Stores a reference to each of `keys`, and expects to read it back and to find it by its index.
  private func expectStored<K: IndexableValue & Hashable>(
    _ keys: [K], as type: AttributeType
  ) throws {
    try withTemporaryStore([Pointing<Keyed<K>>.self]) { store in
      let references = try keys.map { try Reference(Keyed(key: $0)) }
      #expect(Set(references).count == keys.count)
      for reference in references {
        try store.insert(Pointing(target: reference, other: reference))
      }
      let attribute = store.core.schema.entities.first?.description.attribute(named: "target")
      #expect(attribute?.type == type)
      for (key, reference) in zip(keys, references) {
        let index = Pointing<Keyed<K>>.index(\.target)
        let found = try #require(try store.fetch(index.key(reference)))
        #expect(found.target == reference && found.other == reference)
        #expect(found.target.values == [key._storedValue.value])
        #expect(try store.count(Pointing<Keyed<K>>.where { $0.other == reference }) == 1)
        #expect(try Reference(Keyed<K>.index(\.key).key(key)) == reference)
        #expect(try JSONCoders.coded([reference]) == [reference])
      }
      _ = try storeError(.uniqueViolation) {
        try store.insert(Pointing(target: references[0]))
      }
    }
  }

  private func expectText<K: IndexableValue & Hashable>(
    _ keys: [K], _ texts: [String?]
  ) throws {
    try withTemporaryStore([Pointing<Paired<K>>.self]) { store in
      for (key, text) in zip(keys, texts) {
        let reference = try Reference(Paired(key: key, part: 1))
        if let text { #expect(reference.stored == text._storedValue) }
        #expect(reference.values == [key._storedValue.value, .integer(1)])
        #expect(try Reference(Paired<K>.index(\.key, \.part).key(key, 1)) == reference)
        let id = try store.insert(Pointing(target: reference)).id
        let found = try #require(try store.fetch(id))
        #expect(found.target == reference && found.other == nil)
        #expect(try store.ids(Pointing<Paired<K>>.where { $0.target == reference }) == [id])
        #expect(try store.count(Pointing<Paired<K>>.where { $0.other == nil }) > 0)
      }
    }
  }

  @Test func `equal texts in different forms make one reference`() throws {
    let composed = try Reference(Paired(key: "caf\u{e9}", part: 1))
    let decomposed = try Reference(Paired(key: "cafe\u{301}", part: 1))
    #expect(composed == decomposed && composed.hashValue == decomposed.hashValue)
    try withTemporaryStore([Pointing<Paired<String>>.self]) { store in
      try store.insert(Pointing(target: composed))
      _ = try storeError(.uniqueViolation) { try store.insert(Pointing(target: decomposed)) }
    }
  }

  @Test func `a reference that no record can match is refused when the store is opened`() throws {
    let folder = try TemporaryFolder()
    func refusal(_ entity: any Entity.Type) throws -> String {
      try storeError(.badSchema) { try Store(at: folder.storePath, entities: [entity]) }.message
    }
    #expect(try refusal(Pointing<PodNote>.self).contains("it has no unique key"))
    #expect(try refusal(Pointing<Keyed<RecordID<Pod>>>.self).contains("is a record id"))
    #expect(try refusal(Pointing<Pointing<Pod>>.self).contains("is a reference itself"))
    let pod = try Reference(Pod(name: "a", version: "1"))
    _ = try storeError(.badSchema) { try Reference(PodNote(pod: pod)) }
  }

  @Test func `a key with a null, or another key than the first, makes no reference`() throws {
    let error = try storeError(.unstorableValue) { try Reference(Keyed<Int?>(key: nil)) }
    #expect(error.message == "cannot refer to Keyed: 'key' of its unique key is null")
    _ = try storeError(.unknownIndex) { try Reference(Pod.byDate.key(Date())) }
    _ = try storeError(.unknownIndex) {
      try Reference(Pod.index(\.version, \.name).key("1", "a"))
    }
  }

  @Test func `predicates, formats, orders and prefixes take references`() throws {
    try withTemporaryStore([PodNote.self]) { store in
      let names = ["b", "a", "c"]
      let references = try names.map { try Reference(Pod(name: $0, version: "1")) }
      for reference in references { try store.insert(PodNote(pod: reference, text: "x")) }
      let b = references[0]
      let predicate = #Predicate<PodNote> { $0.pod == b }
      #expect(try store.fetch(PodNote.where(predicate)).map(\.pod) == [b])
      #expect(try store.count(PodNote.where(format: "pod == %@", b)) == 1)
      #expect(try store.count(PodNote.where(format: "pod BEGINSWITH %@", "[\"a\",")) == 1)
      #expect(try store.count(PodNote.where { $0.pod.isIn(references) }) == 3)
      let sorted = try store.fetch(PodNote.all.sorted(by: \.pod))
      #expect(sorted.map(\.pod) == [references[1], b, references[2]])
      try store.update(PodNote.where { $0.pod == b }) { $0.instead = references[1] }
      #expect(try store.fetch(PodNote.where { $0.instead == references[1] }).map(\.pod) == [b])
      #expect(b.description == #"Pod ["b","1"]"#)
    }
  }
}

private enum JSONCoders {
  /// Returns `value` after a round trip through JSON, infinities included.
  static func coded<V: Codable>(_ value: V) throws -> V {
    let (infinity, minus, nan) = ("inf", "-inf", "nan")
    let encoder = JSONEncoder()
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: infinity, negativeInfinity: minus, nan: nan)
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: infinity, negativeInfinity: minus, nan: nan)
    return try decoder.decode(V.self, from: encoder.encode(value))
  }
}
