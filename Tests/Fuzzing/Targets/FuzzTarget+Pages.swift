import Foundation
import LMDB
import LodestoreFormat
import LodestorePages
import LodestoreVerifier

@testable import EntityStore

extension FuzzTarget {
  private static let maker: PageFileMaker = {
    do { return try PageFileMaker() } catch { fatalError("cannot make files: \(error)") }
  }()

  /// Files with changed pages: the checker must end on each.
  ///
  /// LMDB must be able to read and write each file that the checker accepts, and leave it sound.
  static let pages = FuzzTarget("pages", longestInput: 256) {
    maker.seeds
  } run: { bytes in
    var input = InputReader(bytes)
    let path = maker.folder + "/file"
    let file = maker.file(&input)
    // The file gets a new inode each time, because the process may remember the last one.
    unlink(path)
    unlink(path + "-lock")
    try Data(file).write(to: URL(fileURLWithPath: path))
    _ = try? PageChecker.check(path: path, commit: .previous)
    let report = try PageChecker.check(path: path)
    guard report.isSound else { return }
    _ = try? Verifier.verify(path: path)
    if let store = try? DynamicStore(path: path, options: .readOnly) {
      try? readAll(of: store)
      store.close()
    }
    let names = report.trees.map { (name: $0.name, hasIntegerKeys: $0.hasIntegerKeys) }
    try withEnvironment(path) { environment in
      try read(environment, names)
      for round in 0..<3 { try write(environment, names, round) }
      try read(environment, names)
    }
    let after = try PageChecker.check(path: path)
    require(after.isSound, "after writes to a file that passed: \(after.findings)")
  }

  private static func withEnvironment(_ path: String, _ body: (Environment) throws -> Void) throws {
    var options = EnvironmentOptions()
    options.access = .readWrite(create: false)
    options.mapSizeInBytes = 1 << 24
    options.mapGrowthLimitInBytes = 1 << 26
    let environment = try EnvironmentRegistry.open(path, options: options) { _ in }
    defer { EnvironmentRegistry.close(environment) }
    try body(environment)
  }

  private static func readAll(of store: DynamicStore) throws {
    try store.read { snapshot in
      for entity in snapshot.entities {
        try snapshot.forEachRecord(of: entity) { record in
          guard let reader = try? record.reader() else { return true }
          for attribute in entity.description.declaredAttributes {
            _ = try? reader.value(of: attribute)
          }
          return true
        }
        _ = try? snapshot.query(QueryRequest(format: "text == 'abc' OR number > 3"), of: entity)
          .ids()
      }
    }
  }

  private static func trees(
    _ environment: Environment, _ names: [(name: String, hasIntegerKeys: Bool)]
  ) throws -> [Tree] {
    try names.compactMap {
      try environment.openExistingTree($0.name, hasIntegerKeys: $0.hasIntegerKeys)
    }
  }

  /// Reads each tree forwards and backwards, and by the scans of pages.
  private static func read(
    _ environment: Environment, _ names: [(name: String, hasIntegerKeys: Bool)]
  ) throws {
    let trees = try trees(environment, names)
    try environment.read { transaction in
      var sum: UInt8 = 0
      for tree in trees {
        let cursor = try Cursor(tree, in: transaction)
        var (forward, backward) = (0, 0)
        var isThere = try cursor.first()
        while isThere {
          sum = cursor.key.reduce(sum, &+)
          sum = cursor.value.reduce(sum, &+)
          forward += 1
          isThere = try cursor.next()
        }
        isThere = try cursor.last()
        while isThere {
          backward += 1
          isThere = try cursor.previous()
        }
        require(forward == backward, "\(tree.name) has \(forward) entries, backwards \(backward)")
        let counted = try transaction.count(of: tree)
        require(forward == counted, "\(tree.name) has \(forward) entries and counts \(counted)")
      }
      _ = try transaction.freePageCount()
    }
  }

  /// Removes and adds short and long values, so that pages are freed, split, merged and reused.
  private static func write(
    _ environment: Environment, _ names: [(name: String, hasIntegerKeys: Bool)], _ round: Int
  ) throws {
    let integerKeys = Set(names.filter(\.hasIntegerKeys).map(\.name))
    let trees = try trees(environment, names)
    try environment.write { transaction in
      for tree in trees {
        let cursor = try WritingCursor(tree, in: transaction)
        var number = 0
        var isThere = try cursor.reads.first()
        while isThere {
          if (number + round).isMultiple(of: 2) { try cursor.delete() }
          number += 1
          isThere = try cursor.reads.next()
        }
        for number in 0..<(20 * (2 - round)) {
          let key: [UInt8] =
            integerKeys.contains(tree.name)
            ? littleEndianBytes(UInt64(number * 3)) : [UInt8(number), 1, 2]
          let size = number.isMultiple(of: 7) ? 6_000 : 40
          try transaction.put(key, [UInt8](repeating: UInt8(round), count: size), in: tree)
        }
      }
    }
  }
}
