import LodestoreBytes
import Testing

@testable import EntityStore

#if DEBUG
  /// Debug builds notice the use of a record after the next one was created in its memory.
  @Suite struct `Stale records` {
    @Test func `a record of a writer is stale when the next one begins`() throws {
      let store = try Store.inMemory(entities: [AllTypes.self])
      var numbers = SeededNumbers(salt: 63)
      let value = AllTypes.nasty(&numbers)
      try store.core.read { core in
        let entity = try core.entity(named: "AllTypes")
        var writer = RecordWriter()
        let first = try writer.encode(value, of: entity)
        #expect(!first.isStale)
        let second = try writer.encode(value, of: entity)
        #expect(first.isStale)
        #expect(!second.isStale)
      }
      store.close()
    }

    @Test func `a record of a buffer is stale when the buffer changes`() {
      let content: [UInt8] = [1, 2, 3]
      var row = RecordBuffer(byteCount: 64)
      content._withBytes { row.append($0, id: 1) }
      let first = row[0]
      #expect(!first.isStale)
      content._withBytes { row.append($0, id: 2) }
      #expect(first.isStale)
      let second = row[1]
      #expect(!second.isStale)
      row.removeAll()
      #expect(second.isStale)
    }
  }
#endif
