import Foundation
import LMDB
import LodestoreFormat
import LodestoreVerifier
import Synchronization
import Testing

@testable import EntityStore

@Suite struct `Trust in the pages of a file` {
  /// Makes a closed store of `count` films and removes its lock file, so that the file counts as
  /// one of unknown origin.
  private func makeStore(in folder: borrowing TemporaryFolder, count: Int) throws {
    let store = try Store(at: folder.storePath, entities: [Film.self])
    try store.write { transaction in
      for number in 0..<count {
        _ = try transaction.insert(Film(title: "film \(number)", episode: number))
      }
    }
    store.close()
    try FileManager.default.removeItem(atPath: folder.storePath + "-lock")
  }

  private func bytes(_ folder: borrowing TemporaryFolder) throws -> Data {
    try Data(contentsOf: URL(fileURLWithPath: folder.storePath))
  }

  /// Damages the first leaf page of records: its first node begins outside the page, where LMDB
  /// would read.
  private func damage(_ folder: borrowing TemporaryFolder) throws {
    var bytes = try Array(bytes(folder))
    let size = PageLayout.systemPageSize
    let format = PageFormat.ofEngine
    let isBigLeaf = { (page: Int) in
      bytes[page * size + format.flags] == 2 && bytes[page * size + format.lower] > 100
    }
    let page = try #require((2..<(bytes.count / size)).last(where: isBigLeaf))
    bytes[page * size + format.headerSize + 1] = 0xff
    try Data(bytes).write(to: URL(fileURLWithPath: folder.storePath))
  }

  private func options(_ trust: StoreOptions.Trust) -> StoreOptions {
    var options = StoreOptions()
    options.trust = trust
    return options
  }

  @Test func `a damaged file is refused with the fault and the remedy, and stays unchanged`()
    throws
  {
    let folder = try TemporaryFolder()
    try makeStore(in: folder, count: 500)
    try damage(folder)
    let before = try bytes(folder)
    for options in [StoreOptions(), .readOnly] {
      let error = try storeError(.damaged) {
        try Store(at: folder.storePath, entities: [Film.self], options: options)
      }
      #expect(error.message.contains("its pages have"))
      #expect(error.message.contains("page "))
      #expect(error.message.contains("kvdump salvage"))
    }
    #expect(try bytes(folder) == before)
  }

  @Test func `a file whose header alone is checked is refused at its first write`() throws {
    let folder = try TemporaryFolder()
    try makeStore(in: folder, count: 500)
    try damage(folder)
    let store = try Store(
      at: folder.storePath, entities: [Film.self], options: options(.checkHeader))
    let before = try bytes(folder)
    for _ in 0..<2 {
      _ = try storeError(.damaged) {
        try store.write { _ = try $0.insert(Film(title: "new", episode: 9_999)) }
      }
    }
    #expect(try bytes(folder) == before)
    store.close()
    // The file has no mark that would make it trusted.
    _ = try storeError(.damaged) { try Store(at: folder.storePath, entities: [Film.self]) }
  }

  @Test func `a sound file is written after its check`() throws {
    let folder = try TemporaryFolder()
    try makeStore(in: folder, count: 500)
    for trust in [StoreOptions.Trust.checkHeader, .none, .verifyFirst] {
      let store = try Store(at: folder.storePath, entities: [Film.self], options: options(trust))
      try store.write { transaction in
        _ = try transaction.insert(Film(title: "new", episode: 1_000 + transaction.count(Film.all)))
      }
      store.close()
    }
    try expectSound(folder.storePath)
  }

  /// Faults of the header, with their names.
  private static let headerFaults:
    [(name: String, code: StoreError.Code, damage: @Sendable (inout [UInt8]) -> Void)] = [
      ("cut", .damaged, { $0.removeLast($0.count / 2) }),
      ("nothing", .notAStore, { $0 = Array($0.prefix(20)) }),
      ("other magic", .notAStore, { $0[PageFormat.ofEngine.meta.magic] ^= 1 }),
      ("other data version", .notAStore, { $0[PageFormat.ofEngine.meta.version] = 2 }),
      (
        "two page sizes", .damaged,
        { $0[PageLayout.systemPageSize + PageFormat.ofEngine.meta.freeList] ^= 0xff }
      ),
      (
        "a last page beyond the file", .damaged,
        { bytes in
          let last = PageFormat.ofEngine.meta.lastPage + 6
          for page in 0..<2 { bytes[page * PageLayout.systemPageSize + last] = 1 }
        }
      ),
    ]

  @Test(arguments: headerFaults.indices)
  func `an unchecked file is still refused for a damaged header`(
    number: Int
  ) throws {
    let fault = Self.headerFaults[number]
    let folder = try TemporaryFolder()
    try makeStore(in: folder, count: 500)
    var bytes = try Array(bytes(folder))
    fault.damage(&bytes)
    try Data(bytes).write(to: URL(fileURLWithPath: folder.storePath))
    for var options in [options(.none), .readOnly] {
      options.trust = .none
      let error = try storeError(fault.code) {
        try Store(at: folder.storePath, entities: [Film.self], options: options)
      }
      #expect(error.message.contains(folder.storePath), "\(fault.name): \(error)")
    }
    #expect(try Array(self.bytes(folder)) == bytes)
  }

  @Test func `a fault in an unchecked file is a typed error`() throws {
    let folder = try TemporaryFolder()
    try makeStore(in: folder, count: 50)
    // The damaged byte is in a record's text. The index entry with the same text stays unchanged.
    var bytes = try bytes(folder)
    let record = try #require(
      bytes.ranges(of: Data("film 7".utf8)).first { bytes[$0.upperBound] != 0 })
    bytes[record.lowerBound] = UInt8(ascii: "x")
    try bytes.write(to: URL(fileURLWithPath: folder.storePath))
    var options = options(.none)
    options.verifiesChecksums = true
    let store = try Store(at: folder.storePath, entities: [Film.self], options: options)
    let error = try storeError(.damaged) { try store.read { try $0.fetch(Film.all) } }
    #expect(error.entity == "Film" && error.recordID == 8, "\(error)")
    let other = Film.where { $0.episode == 3 }
    #expect(try store.read { try $0.fetch(other).map(\.title) } == ["film 3"])
    // A damaged record cannot be changed, even with options that skip checks.
    _ = try storeError(.damaged) {
      try store.write { try $0.update(Film.where { $0.episode == 7 }) { $0.code = "c" } }
    }
    try store.write { _ = try $0.insert(Film(title: "new", episode: 900)) }
    store.close()
    let report = try Verifier.verify(path: folder.storePath)
    #expect(report.findings.contains { $0.record == 8 }, "\(report.findings)")
  }

  @Test func `a change of an index with a lost entry fails without any check`()
    throws
  {
    let folder = try TemporaryFolder()
    try makeStore(in: folder, count: 50)
    try withExtendedLifetime(folder) {
      let store = try Store(at: folder.storePath, entities: [Film.self], options: options(.none))
      defer { store.close() }
      try store.core.environment.write { transaction in
        let entity = try #require(store.core.schema.entity(named: "Film"))
        _ = try transaction.delete(littleEndianBytes(UInt64(8)), in: entity.records)
      }
      let error = try storeError(.damaged) {
        try store.read { try $0.fetch(Film.where { $0.episode == 7 }) }
      }
      #expect(error.message.contains("Film"), "\(error)")
    }
    #expect(try !Verifier.verify(path: folder.storePath).isSound)
  }

  @Test func `the check of a large file reports its progress, and can be cancelled`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.storePath
    let store = try Store(at: path, entities: [Film.self])
    // The value takes some 10,000 pages, so that the check has progress to report.
    try await store.write { try $0.put(Data(count: 40 << 20), for: "zeros", in: "large") }
    store.close()
    try FileManager.default.removeItem(atPath: path + "-lock")
    let reports = Mutex<[WorkProgress]>([])
    try await Store.open(at: path, entities: [Film.self]) { progress in
      reports.withLock { $0.append(progress) }
    }.close()
    let seen = reports.withLock { $0 }
    #expect(!seen.isEmpty)
    #expect(seen.allSatisfy { $0.completed <= $0.total ?? 0 })
    try FileManager.default.removeItem(atPath: path + "-lock")
    let (isReached, isReleased) = (Latch(), Latch())
    let opening = Task {
      try await Store.open(at: path, entities: [Film.self]) { _ in
        isReached.set()
        while !isReleased.isSet { usleep(1_000) }
      }
    }
    while !isReached.isSet { try await Task.sleep(for: .milliseconds(1)) }
    opening.cancel()
    isReleased.set()
    await #expect(throws: CancellationError.self) { try await opening.value }
    try expectSound(path)
  }
}
