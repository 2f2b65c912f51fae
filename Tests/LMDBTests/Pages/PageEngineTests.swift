import LodestoreSystem
import Testing

@testable import LMDB

/// Environments that are read without LMDB and without a lock file.
@Suite struct PageEngineTests {
  /// Runs `body` with a writer of a file, and a reader of the same file in its pages.
  private func withReader(
    _ body: (_ writer: Environment, _ tree: Tree, _ reader: Environment) throws -> Void
  ) throws {
    try withEnvironment { writer, tree in
      try put([key(1)], into: tree, of: writer)
      let file = open(writer.path, O_RDONLY)
      defer { close(file) }
      let options = EnvironmentOptions { $0.access = .readOnly }
      let reader = try Environment.openInPages(file, as: writer.path, options: options)
      defer { reader.shutDown() }
      try body(writer, tree, reader)
    }
  }

  @Test func `each read shows the newest commit also of a file that has grown`() throws {
    try withReader { writer, tree, reader in
      let seen = try openedTree(of: reader)
      for round in 2..<40 {
        try writer.write { transaction in
          try transaction.put(key(round), [UInt8](repeating: 7, count: 30_000), in: tree)
        }
        let newest = try writer.info.lastTransaction
        try reader.read { transaction in
          #expect(try transaction.count(of: seen) == round)
          let value = try transaction.get(key(round), in: seen)
          #expect(value?.count == 30_000)
          #expect(transaction.id == newest)
        }
      }
      let numbers = try (reader.info.lastTransaction, writer.info.lastTransaction)
      #expect(numbers.0 == numbers.1)
      #expect(!reader.hasLockFile && reader.readerSlots().isEmpty)
    }
  }

  @Test func `a read during one commit is valid, and during two it is refused`() throws {
    try withReader { writer, tree, reader in
      let seen = try openedTree(of: reader)
      for commits in 0..<4 {
        let failure = kind {
          try reader.read { transaction in
            for commit in 0..<commits {
              try put([key(100 * commits + commit)], into: tree, of: writer)
            }
            _ = try transaction.get(key(1), in: seen)
          }
        }
        #expect(failure == (commits < 2 ? nil : .overtaken))
      }
      struct Found: Error {}
      let failure = kind {
        try reader.read { _ in
          for commit in 0..<3 { try put([key(900 + commit)], into: tree, of: writer) }
          throw Found()
        }
      }
      #expect(failure == .overtaken, "what was found may be of another commit")
    }
  }

  @Test func `a read that stays open shows its commit until two commits have passed`() throws {
    try withReader { writer, tree, reader in
      let seen = try openedTree(of: reader)
      let pinned = try reader.beginRead()
      defer { reader.endRead(pinned) }
      let transaction = reader.transaction(of: pinned)
      for commits in 1...3 {
        try put([key(commits + 1)], into: tree, of: writer)
        let failure = kind {
          try transaction.whole {
            let count = try transaction.count(of: seen)
            #expect(count == 1)
          }
        }
        #expect(failure == (commits < 2 ? nil : .overtaken))
      }
    }
  }

  @Test func `a reader of pages refuses every write`() throws {
    try withReader { _, _, reader in
      #expect(name { try reader.write { _ in } } == "EACCES")
    }
  }

  @Test(arguments: [false, true])
  func `a copy has the newest commit`(isCompacting: Bool) throws {
    try withReader { writer, _, reader in
      let path = writer.path + "-copy"
      try reader.copy(to: path, compacting: isCompacting)
      let copy = try openEnvironment(path) { $0.access = .readOnly }
      defer {
        EnvironmentRegistry.close(copy)
        for name in [path, path + "-lock"] { unlink(name) }
      }
      let tree = try openedTree(of: copy)
      let value = try copy.read { try $0.get(key(1), in: tree)?.count }
      #expect(value == 8)
    }
  }

  @Test func `a file is read in its pages by option, and no lock file is made`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("store")
    EnvironmentRegistry.close(try openEnvironment(path))
    unlink(path + "-lock")
    let reader = try openEnvironment(path) {
      $0.access = .readOnly
      $0.readsInPages = true
    }
    #expect(try reader.read { try $0.treeNames() } == ["t"])
    EnvironmentRegistry.close(reader)
    #expect(directory.names == ["store"])
  }
}
