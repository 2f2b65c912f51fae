import Foundation
import LodestoreFormat
import Testing

@testable import EntityStore

@Suite struct `Views of other records` {
  @Test func `a record that is older than an attribute has its initial value`() throws {
    try withTemporaryPath { path in
      let old = try Store(at: path, entities: [PersonV1.self])
      try old.write { tx in
        _ = try tx.insert(PersonV1(name: "Ada", email: "ada@example.org", age: 36))
      }
      old.close()
      let store = try Store(at: path, entities: [PersonV2.self])
      try store.write { _ = try $0.insert(PersonV2(city: "Turin", age: 5, level: 9, name: "Bob")) }
      try store.read { snapshot in
        var rows: [String] = []
        try snapshot.forEachView(PersonV2.all) { view in
          let (hasCity, hasEmail) = (view.city != nil, view.email != nil)
          rows.append("\(view.name.string) \(view.age) \(view.level) \(hasCity) \(hasEmail)")
        }
        #expect(rows == ["Ada 36 3 false true", "Bob 5 9 true false"])
        let level = try snapshot.withView(PersonV2.byLevel.key(3)) { view in
          (view.level, view.name.string, try view.decoded())
        }
        #expect(level?.0 == 3 && level?.1 == "Ada")
        #expect(level?.2 == (try snapshot.fetch(PersonV2.byLevel.key(3))))
      }
      store.close()
    }
  }

  @Test func `a mutated record fails as decoding does, or has equal values`() throws {
    let store = try Store.inMemory(entities: [AllTypes.self])
    var numbers = SeededNumbers(salt: 62)
    let id = try store.write { try $0.insert(AllTypes.nasty(&numbers)).id }
    let original = try store.core.read { core in
      Array(try #require(try core.record(id.rawValue, of: try core.entity(named: "AllTypes"))))
    }
    var codes: [StoreError.Code: Int] = [:]
    for _ in 0..<500 {
      let bytes = numbers.mutated(original)
      try store.core.write { core in
        try core.writing.put(
          littleEndianBytes(id.rawValue), bytes, in: try core.entity(named: "AllTypes").records)
      }
      let (decoding, viewing) = try store.read { snapshot in
        let decoding = Result { try snapshot.fetch(id) }
        let viewing = Result {
          try snapshot.withView(id) { try AllTypes(viewed: $0) }
        }
        return (decoding, viewing)
      }
      switch (decoding, viewing) {
      case (.success(let decoded), .success(let viewed)):
        #expect(decoded?.film == viewed?.film && decoded?.optionalFilm == viewed?.optionalFilm)
        let contents = (
          try viewed?.withoutFilms.content(in: store), try decoded?.withoutFilms.content(in: store)
        )
        #expect(contents.0 == contents.1, "\(SeededNumbers.replay)")
      case (.failure(let decoding as StoreError), .failure(let viewing as StoreError)):
        // If two attributes are bad, the error names the one that is read first, which may differ.
        #expect(decoding.code == viewing.code, "\(decoding) \(viewing) \(SeededNumbers.replay)")
        #expect(viewing.entity == "AllTypes" && viewing.recordID == id.rawValue)
        codes[viewing.code, default: 0] += 1
      default: Issue.record("one fails, the other does not: \(SeededNumbers.replay)")
      }
    }
    #expect(codes[.damaged, default: 0] > 20, "\(codes)")
    store.close()
  }

  @Test func `a flipped byte is found if checksums are verified`() throws {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.storePath, entities: [Pod.self])
    try store.write { _ = try $0.insert(Pod(name: "the marker", version: "v", stars: 3)) }
    store.close()
    let file = URL(fileURLWithPath: folder.storePath)
    var bytes = try Data(contentsOf: file)
    // The match is in the record. In the index, a zero byte follows the text.
    let range = try #require(bytes.range(of: Data("the markerv".utf8)))
    bytes[range.lowerBound] ^= 1
    try bytes.write(to: file)
    let lenient = try Store(at: folder.storePath, entities: [Pod.self])
    let read = try lenient.read { snapshot in
      try snapshot.withView(RecordID<Pod>(rawValue: 1)) { $0.name.string }
    }
    #expect(read == "uhe marker")
    lenient.close()
    var options = StoreOptions()
    options.verifiesChecksums = true
    let strict = try Store(at: folder.storePath, entities: [Pod.self], options: options)
    try strict.read { snapshot in
      for error in [
        try storeError(.damaged) { try snapshot.forEachView(Pod.all) { _ in } },
        try storeError(.damaged) { try snapshot.forEachView(Pod.all.limit(5)) { _ in } },
        try storeError(.damaged) {
          try snapshot.withView(RecordID<Pod>(rawValue: 1)) { $0.stars }
        },
      ] {
        #expect(error.entity == "Pod" && error.recordID == 1)
        #expect(error.message.contains("checksum"))
      }
    }
    strict.close()
  }

  @Test func `a raw value without a case throws on access, and no other value does`() throws {
    let store = try Store.inMemory(entities: [AllTypes.self])
    var value = AllTypes()
    value.grade = .high
    value.string = "still here"
    let id = try store.write { [value] in try $0.insert(value).id }
    try store.core.write { core in
      let entity = try core.entity(named: "AllTypes")
      var bytes = Array(try #require(try core.record(id.rawValue, of: entity)))
      let attribute = try #require(entity.description.attribute(named: "grade"))
      let index = try #require(entity.layout.slotIndex(ofAttribute: attribute.number))
      bytes[Int(entity.layout.slots[index].position)] = 5
      try core.writing.put(littleEndianBytes(id.rawValue), bytes, in: entity.records)
    }
    try store.read { snapshot in
      let decoding = try storeError(.undecodableValue) {
        try snapshot.fetch(id)
      }
      let viewing = try storeError(.undecodableValue) {
        try snapshot.withView(id) { try $0.grade }
      }
      #expect(viewing.message == decoding.message)
      let text = try snapshot.withView(id) { $0.string.string }
      #expect(text == "still here")
    }
    store.close()
  }
}
