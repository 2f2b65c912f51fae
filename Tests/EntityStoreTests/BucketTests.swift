import EntityStore
import Foundation
import Testing

@Suite struct `Buckets` {
  private struct Settings: Codable, Equatable {
    var pageSize: Int
    var names: [String]
    var since: Date?
  }

  private func pairs(
    _ store: Store, _ bucket: String, prefix: [UInt8] = [], limit: Int = .max
  ) throws -> [[UInt8]: Data] {
    try ordered(store, bucket, prefix: prefix, limit: limit)
      .reduce(into: [:]) { $0[$1.key] = $1.value }
  }

  private func ordered(
    _ store: Store, _ bucket: String, prefix: [UInt8] = [], limit: Int = .max
  ) throws -> [(key: [UInt8], value: Data)] {
    try store.read { snapshot in
      var found: [(key: [UInt8], value: Data)] = []
      try snapshot.forEach(in: bucket, prefix: prefix) { key, value in
        found.append((key, value))
        return found.count < limit
      }
      return found
    }
  }

  @Test func `bytes are put, replaced, read and deleted`() throws {
    try withTemporaryStore([]) { store in
      try store.write { transaction in
        try transaction.put(Data([1, 2]), for: "a", in: "marks")
        try transaction.put(Data(), for: "empty", in: "marks")
        #expect(try transaction.data(for: "a", in: "marks") == Data([1, 2]))
        try transaction.put(Data([3]), for: "a", in: "marks")
      }
      try store.read { snapshot throws in
        #expect(try snapshot.data(for: "a", in: "marks") == Data([3]))
        #expect(try snapshot.data(for: "empty", in: "marks") == Data())
        #expect(try snapshot.data(for: "b", in: "marks") == nil)
        #expect(try snapshot.data(for: "a", in: "other") == nil)
      }
      try store.write { transaction throws in
        #expect(try transaction.delete(key: "a", in: "marks") == true)
        #expect(try transaction.delete(key: "a", in: "marks") == false)
        try transaction.delete(key: "empty", in: "marks")
        #expect(try transaction.bucketNames().isEmpty)
      }
    }
  }

  @Test func `values of a bucket come back as their type, or are refused as another`() throws {
    try withTemporaryStore([]) { store in
      let settings = Settings(pageSize: 100, names: ["a", "é"], since: .distantPast)
      try store.write { transaction in
        try transaction.put(settings, for: "import", in: "settings")
        try transaction.put([UInt64.max], for: "large", in: "settings")
      }
      try store.read { snapshot throws in
        #expect(try snapshot.value(Settings.self, for: "import", in: "settings") == settings)
        #expect(try snapshot.value([UInt64].self, for: "large", in: "settings") == [.max])
        #expect(try snapshot.value(Int.self, for: "none", in: "settings") == nil)
      }
      let error = try storeError(.undecodableValue) {
        try store.read { try $0.value([String].self, for: "import", in: "settings") }
      }
      #expect(error.message.contains("'import'") && error.message.contains("'settings'"))
    }
  }

  @Test func `a scan visits one bucket in the order of the keys' bytes`() throws {
    try withTemporaryStore([]) { store in
      let keys: [[UInt8]] = [[0], [0, 0], [1], [1, 255], [1, 255, 0], [2], [255], [255, 255]]
      try store.write { transaction in
        for key in keys.reversed() { try transaction.put(Data(key), for: key, in: "b") }
        for other in ["a", "b\u{1}", "ba", "c"] {
          try transaction.put(Data([9]), for: "k", in: other)
        }
      }
      #expect(try ordered(store, "b").map(\.key) == keys)
      #expect(try pairs(store, "b").allSatisfy { Data($0.key) == $0.value })
      #expect(try ordered(store, "b", prefix: [1]).map(\.key) == [[1], [1, 255], [1, 255, 0]])
      #expect(try ordered(store, "b", prefix: [255]).map(\.key) == [[255], [255, 255]])
      #expect(try ordered(store, "b", limit: 2).map(\.key) == [[0], [0, 0]])
      #expect(try store.read { try $0.bucketNames() } == ["a", "b", "b\u{1}", "ba", "c"])
    }
  }

  @Test func `names and keys of a bucket are checked against their limits`() throws {
    try withTemporaryStore([]) { store in
      let name = String(repeating: "é", count: 32)
      let key = [UInt8](repeating: 7, count: 400)
      try store.write { transaction in
        try transaction.put(Data([1]), for: key, in: name)
        for (key, name, told) in [
          ([UInt8](), "a", "key '' of bucket 'a': it has 0 bytes"),
          (Array("k".utf8) + key, "a", "key 'k\u{7}"), (key + [255], "a", "key '0707"),
          ([1], "", "bucket '': its name has 0 bytes"), ([1], name + "a", "bucket 'éé"),
          ([1], "a\u{0}b", "bucket '610062': its name has 3 bytes"),
        ] {
          for error in [
            try storeError(.unstorableValue) { try transaction.put(Data(), for: key, in: name) },
            try storeError(.unstorableValue) { try transaction.data(for: key, in: name) },
          ] {
            #expect(error.message.hasPrefix("cannot use \(told)"), "\(error)")
            #expect(error.message.contains("must have 1 to ") && error.message.contains("; take "))
          }
        }
      }
      #expect(try pairs(store, name) == [key: Data([1])])
    }
  }

  @Test func `a value beyond the record limit is refused`() throws {
    var options = StoreOptions()
    options.recordSizeLimitInBytes = 100
    try withTemporaryStore([], options: options) { store in
      try store.write { transaction in
        try transaction.put(Data(count: 100), for: "a", in: "b")
        let error = try storeError(.unstorableValue) {
          try transaction.put(Data(count: 101), for: "a", in: "b")
        }
        #expect(
          error.message
            == "cannot keep 'a' in bucket 'b': the value has 101 bytes, the limit is 100; keep "
            + "less, or raise recordSizeLimitInBytes")
      }
      #expect(try store.read { try $0.data(for: "a", in: "b")?.count } == 100)
    }
  }
}
