import LMDB
import LodestoreSystem
import Testing

@Suite struct CopyTests {
  @Test func `copies made while writing hold whole commits`() async throws {
    let directory = try TemporaryDirectory()
    let environment = try openEnvironment(directory.file("store")) { $0.mapSizeInBytes = 1 << 20 }
    defer { EnvironmentRegistry.close(environment) }
    let tree = try openedTree(of: environment)
    let isDone = SharedNumber()
    let path = directory.file("copy")
    // Each commit moves one unit from one row to another and adds bulk, so the sum of the rows
    // never changes.
    try environment.write { transaction in
      for row in 0..<16 { try transaction.put(key(row), [100], in: tree) }
    }
    async let writing: Void = environment.writer.run {
      var random = SeededGenerator(salt: 5)
      var commit = 0
      while isDone.value == 0 {
        commit += 1
        try environment.write { transaction in
          let from = Int.random(in: 0..<16, using: &random)
          let to = Int.random(in: 0..<16, using: &random)
          let taken = try transaction.get(key(from), in: tree)?.first ?? 0
          guard taken > 0, from != to else { return }
          let given = try transaction.get(key(to), in: tree)?.first ?? 0
          guard given < 255 else { return }
          try transaction.put(key(from), [taken - 1], in: tree)
          try transaction.put(key(to), [given + 1], in: tree)
          try transaction.put(
            key(1_000 + commit % 300), [UInt8](repeating: 1, count: 3_000), in: tree)
        }
      }
    }
    // All copies are one job, because the writer keeps a processor until it ends.
    try await environment.readerThreads.run {
      defer { isDone.add() }
      for number in 0..<20 {
        try environment.copy(to: path, compacting: number % 2 == 0)
        let copy = try openEnvironment(path) { $0.access = .readWrite(create: false) }
        let copied = try openedTree(of: copy)
        let sum = try copy.read { transaction in
          var sum = 0
          try Cursor(copied, in: transaction).walk(
            KeyRange(upper: .excluded(key(16)))
          ) { _, value in
            sum += Int(value.first ?? 0)
            return true
          }
          return sum
        }
        #expect(sum == 1_600, "copy \(number)")
        EnvironmentRegistry.close(copy)
        unlink(path)
        unlink(path + "-lock")
      }
    }
    try await writing
  }

  /// If the copy waited for the map to move, it would wait for its own read.
  @Test func `a copy does not wait when another process has grown the file`() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("store")
    let environment = try openEnvironment(path) {
      $0.mapSizeInBytes = 1 << 20
      $0.growthWaitInSeconds = 30
    }
    defer { EnvironmentRegistry.close(environment) }
    await #expect(processExitsWith: .success) { [path = path as String] in
      let other = try openEnvironment(path)
      let tree = try openedTree(of: other)
      try other.write { transaction in
        for row in 0..<4_000 {
          try transaction.put(key(row), [UInt8](repeating: 7, count: 3_000), in: tree)
        }
      }
      EnvironmentRegistry.close(other)
    }
    let start = ContinuousClock.now
    try environment.copy(to: directory.file("copy"), compacting: true)
    #expect(start.duration(to: .now) < .seconds(15))
    let copy = try openEnvironment(directory.file("copy"))
    defer { EnvironmentRegistry.close(copy) }
    let tree = try openedTree(of: copy)
    #expect(try copy.read { try $0.count(of: tree) } == 4_000)
  }

  @Test func `an existing file is not overwritten by a copy`() throws {
    let directory = try TemporaryDirectory()
    try withEnvironment { environment, _ in
      write([1, 2, 3], to: directory.file("copy"))
      #expect(
        name { try environment.copy(to: directory.file("copy"), compacting: true) } == "EEXIST")
      #expect(size(of: directory.file("copy")) == 3)
    }
  }

  @Test(arguments: [false, true])
  func `a copy inside a write is refused`(compacting: Bool) throws {
    let directory = try TemporaryDirectory()
    try withEnvironment { environment, _ in
      try environment.write { _ in
        #expect(
          kind { try environment.copy(to: directory.file("copy"), compacting: compacting) }
            == .nestedWrite)
      }
      #expect(directory.names.isEmpty)
      try environment.copy(to: directory.file("copy"), compacting: compacting)
      #expect(directory.names == ["copy"])
    }
  }
}
