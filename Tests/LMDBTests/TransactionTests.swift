@testable import LMDB
import LodestoreBytes
import LodestoreSystem
import Testing

@Suite struct TransactionTests {
  struct Stop: Error {}

  @Test func `a write inside a write is refused, and the outer write continues`() throws {
    try withEnvironment { environment, tree in
      try environment.write { transaction in
        #expect(kind { try environment.write { _ in } } == .nestedWrite)
        try transaction.put([1], [1], in: tree)
      }
      #expect(try environment.read { try $0.count(of: tree) } == 1)
    }
  }

  @Test func `a read inside a write sees the last commit`() throws {
    try withEnvironment { environment, tree in
      try environment.write { transaction in
        try transaction.put([1], [1], in: tree)
        #expect(try environment.read { try $0.count(of: tree) } == 0)
        #expect(try transaction.count(of: tree) == 1)
      }
    }
  }

  @Test func `a failed read inside a write leaves the write intact`() throws {
    try withEnvironment { environment, tree in
      try environment.write { transaction in
        try transaction.put([1], [1], in: tree)
        // LMDB knows no tree with this handle, so the get fails.
        let unknown = Tree(name: "unknown", handle: 99, hasIntegerKeys: false)
        let failure = name { try environment.read { _ = try $0.get([1], in: unknown) } }
        #expect(failure == "EINVAL")
      }
      #expect(try environment.read { try $0.count(of: tree) } == 1)
    }
  }

  @Test func `a caught failure still undoes the write`() throws {
    try withEnvironment { environment, tree in
      let failure = name {
        try environment.write { transaction in
          try transaction.put([1], [1], in: tree)
          // The delete fails, because the cursor has not moved to a pair.
          try? WritingCursor(tree, in: transaction).delete()
        }
      }
      #expect(failure == "EINVAL")
      #expect(try environment.read { try $0.count(of: tree) } == 0)
      try put([[1]], into: tree, of: environment)
    }
  }

  @Test func `the handle of an aborted write is not used again`() throws {
    try withEnvironment { environment, _ in
      try? environment.write { transaction in
        _ = try environment.tree("gone", isCreated: true, hasIntegerKeys: false, in: transaction)
        throw Stop()
      }
      #expect(try environment.openExistingTree("gone", hasIntegerKeys: false) == nil)
      let other = try environment.write { transaction in
        let other = try #require(
          try environment.tree("other", isCreated: true, hasIntegerKeys: false, in: transaction))
        try transaction.put([1], [1], in: other)
        return other
      }
      let gone = try environment.write { transaction in
        try #require(
          try environment.tree("gone", isCreated: true, hasIntegerKeys: false, in: transaction))
      }
      #expect(gone != other)
      #expect(try environment.read { try $0.count(of: gone) } == 0)
      #expect(try environment.read { try $0.count(of: other) } == 1)
    }
  }

  @Test func `a tree opened by a reader during a write keeps its own handle`() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("store")
    var environment = try openEnvironment(path)
    try environment.write { transaction in
      let tree = try environment.tree("a", isCreated: true, hasIntegerKeys: false, in: transaction)
      try transaction.put([1], [1], in: #require(tree))
    }
    EnvironmentRegistry.close(environment)
    environment = try openEnvironment(path)
    let opened = environment
    defer { EnvironmentRegistry.close(opened) }
    let runs = SharedNumber()
    let (begun, beginning) = AsyncStream<Void>.makeStream()
    let isOpened = SharedNumber()
    async let made = opened.writer.run {
      try opened.write { transaction in
        runs.add()
        beginning.yield()
        while isOpened.value == 0 { usleep(200) }
        return try opened.tree("b", isCreated: true, hasIntegerKeys: false, in: transaction)
      }
    }
    for await _ in begun { break }
    let a = try openedTree(of: opened, "a")
    isOpened.add()
    let b = try #require(try await made)
    #expect(a != b)
    #expect(runs.value == 2)
    #expect(try opened.read { try $0.count(of: a) } == 1)
    #expect(try opened.read { try $0.count(of: b) } == 0)
  }

  @Test(arguments: [0, 512, 4_096])
  func `a key of another size is refused, and the write continues`(size: Int) throws {
    try withEnvironment { environment, tree in
      let key = [UInt8](repeating: 1, count: size)
      try environment.write { transaction in
        #expect(kind { try transaction.put(key, [], in: tree) } == .keySize(size))
        #expect(try transaction.get(key, in: tree) == nil)
        #expect(try !transaction.delete(key, in: tree))
        try transaction.put([1], [], in: tree)
      }
      #expect(try environment.read { try $0.count(of: tree) } == 1)
    }
  }

  @Test(arguments: [1, 480, 511])
  func `a key of any allowed size is stored`(size: Int) throws {
    try withEnvironment { environment, tree in
      let key = [UInt8](repeating: 255, count: size)
      try put([key], into: tree, of: environment)
      #expect(try environment.read { try $0.get(key, in: tree).map(Array.init) } == key)
    }
  }

  @Test func `a value above one gibibyte is refused before it is read`() throws {
    try withEnvironment { environment, tree in
      let size = 1 << 30 + 1
      try environment.write { transaction in
        let bytes = ByteView(start: UnsafeRawPointer(bitPattern: 4_096), count: size)
        #expect(kind { try transaction.put([1].span(), bytes, in: tree) } == .valueSize(size))
        try transaction.put([1], [], in: tree)
      }
      #expect(try environment.read { try $0.get([1], in: tree)?.count } == 0)
    }
  }
}
