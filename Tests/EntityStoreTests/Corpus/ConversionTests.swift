import Foundation
@testable import LMDB
import LodestorePages
import Testing

@testable import EntityStore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Files of one LMDB version are converted to the format of the version that runs the tests.
@Suite struct `A file of the other LMDB` {
  private static let other = PageFormat.all.first { $0 != .ofEngine } ?? .ofEngine
  private static let files = `Files of earlier versions`.files

  private static var converting: StoreOptions {
    var options = StoreOptions()
    options.convertsOtherEngine = true
    return options
  }

  /// A copy of a kept file of the other LMDB version, and the path to which a conversion moves it.
  private final class Copy {
    let folder: TemporaryFolder
    let path: String
    let before: Data
    var oldPath: String { path + (other == .lmdb09 ? ".lmdb-0.9" : ".lmdb-1.0") }

    init(_ file: String = "format-5.lodestore") throws {
      let folder = try TemporaryFolder()
      path = folder.storePath
      let source = `Files of earlier versions`.folder(of: other) + "/" + file
      try FileManager.default.copyItem(atPath: source, toPath: path)
      before = try Data(contentsOf: URL(fileURLWithPath: path))
      self.folder = folder
    }

    var bytes: Data? { FileManager.default.contents(atPath: path) }

    func files() throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }
  }

  /// The pairs of all trees in their order, read from the pages without LMDB.
  private static func pairs(_ path: String) throws -> [String] {
    var lines: [String] = []
    let commit = try PageSnapshot(newestOf: PageMap(PageFile(path: path)))
    try commit.forEachTree { name, tree in
      lines.append("\(name) \(tree.record.flags) \(tree.record.entries)")
      let cursor = tree.cursor()
      while let pair = try cursor.next() {
        lines.append("\(Array(pair.key)) \(Array(pair.value))")
      }
    }
    return lines
  }

  private static func commitNumber(_ path: String) throws -> UInt64 {
    try PageSnapshot(newestOf: PageMap(PageFile(path: path))).transaction
  }

  @Test(arguments: files)
  func `a file of the other LMDB is converted with all of its content on request`(_ file: String)
    throws
  {
    let copy = try Copy(file)
    let store = try Store(
      at: copy.path, entities: [PersonV2.self, CorpusSpecimen.self, CorpusTrip.self],
      options: Self.converting)
    #expect(try store.fetch(CorpusSpecimen.all) == CorpusSpecimen.all)
    store.close()
    try expectSound(copy.path)
    #expect(FileManager.default.contents(atPath: copy.oldPath) == copy.before)
    let plain = try Copy(file)
    _ = try EngineConversion(of: plain.path).run()
    #expect(try Self.pairs(plain.path) == Self.pairs(plain.oldPath))
    #expect(try Self.commitNumber(plain.path) >= Self.commitNumber(plain.oldPath))
    #expect(try plain.files().count == 2)
    try expectSound(plain.path)
  }

  @Test func `a converted file keeps its history and continues it`() throws {
    let copy = try Copy()
    let store = try Store(at: copy.path, entities: [CorpusNote.self], options: Self.converting)
    let told = try store.history()
    #expect(told.map(\.author) == ["first", "second"])
    #expect(try store.write { try $0.undo(told[1].token) } == 2)
    #expect(try store.fetch(CorpusNote.all).map(\.title) == ["a", "b", "c", "d"])
    store.close()
    try expectSound(copy.path)
  }

  @Test func `a file of the other LMDB stays unchanged without the option`() throws {
    let copy = try Copy()
    let error = try storeError(.otherEngine) { try Store(at: copy.path, entities: []) }
    #expect(error.message.contains("'convertsOtherEngine' or 'kvdump convert'"))
    #expect(try copy.files() == [URL(fileURLWithPath: copy.path).lastPathComponent])
    #expect(copy.bytes == copy.before)
  }

  @Test func `a file of the other LMDB stays unchanged if it is no store, or a name is taken`()
    throws
  {
    let copy = try Copy()
    try Data("mine".utf8).write(to: URL(fileURLWithPath: copy.oldPath))
    let error = try storeError(.unsuitablePath) {
      try Store(at: copy.path, entities: [], options: Self.converting)
    }
    #expect(error.message.contains("move it away"))
    #expect(copy.bytes == copy.before)
    // The lock file that the failed conversion made was removed.
    #expect(try copy.files().count == 2)
    #expect(FileManager.default.contents(atPath: copy.oldPath) == Data("mine".utf8))
  }

  @Test func `a file of the other LMDB stays unchanged while another process has it open`()
    async throws
  {
    let copy = try Copy()
    let lock = try UnusedLockFile(ofStore: copy.path, operation: "convert")
    await #expect(processExitsWith: .success) { [path = copy.path as String] in
      let error = try storeError(.unsuitablePath) {
        try Store(at: path, entities: [], options: Self.converting)
      }
      guard error.message.contains("open in another process") else { exit(1) }
    }
    withExtendedLifetime(lock) {}
    #expect(copy.bytes == copy.before)
    lock.remove()
  }

  @Test(arguments: 0..<4)
  func `a converted file is whole, old or new, after a kill at any step`(_ kill: Int) async throws {
    let copy = try Copy()
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [path = copy.path as String, kill = kill as Int] in
      var steps = 0
      let conversion = try EngineConversion(of: path) { _, _ in
        steps += 1
        if steps == 4 * kill + 1 { raise(SIGKILL) }
        return true
      }
      _ = try conversion.run { _ in raise(SIGKILL) }
    }
    #expect(copy.bytes == copy.before)
    // A killed conversion may leave the old file under both names, which does not prevent the next
    // conversion.
    #expect(link(copy.path, copy.oldPath) == 0)
    let store = try Store(at: copy.path, entities: [CorpusNote.self], options: Self.converting)
    #expect(try await store.history().count == 2)
    store.close()
    try expectSound(copy.path)
    #expect(FileManager.default.contents(atPath: copy.oldPath) == copy.before)
    #expect(try copy.files().filter { $0.hasPrefix(".") } == [])
  }

  @Test func `a converted file replaces a lock file that no process uses`() throws {
    let copy = try Copy()
    _ = try EngineConversion(of: copy.path).run()
    // A kill between the last two steps leaves the lock file of the other LMDB, as here.
    var foreign = Data(count: 8_192)
    withUnsafeBytes(of: MetaPageLayout.magicNumber) { foreign.replaceSubrange(0..<4, with: $0) }
    foreign[4] = 0xEE
    try foreign.write(to: URL(fileURLWithPath: copy.path + "-lock"))
    let store = try Store(at: copy.path, entities: [CorpusNote.self])
    #expect(try store.history().count == 2)
    store.close()
    try expectSound(copy.path)
  }
}
