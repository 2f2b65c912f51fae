// Whole Foundation: copies of files are not in FoundationEssentials.
import Foundation
import LMDB
import LodestorePages
import Testing

@testable import KVDumpCommands

@Suite struct `kvdump convert` {
  private static let other = PageFormat.all.first { $0 != .ofEngine } ?? .ofEngine
  /// The kept file of each LMDB version, with the same pairs in both.
  private static let kept = {
    let files = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("EntityStoreTests/Corpus/Files").path
    return files + (other == .lmdb10 ? "/lmdb-1.0" : "") + "/format-5.lodestore"
  }()

  @Test func `convert makes a store of the other LMDB one of this LMDB`() async throws {
    let folder = try StoreFolder()
    try FileManager.default.copyItem(atPath: Self.kept, toPath: folder.store)
    let refused = await folder.run("delete", "Note", "title == 'a'", "--yes")
    #expect(refused.status == .damagedData)
    #expect(refused.messages.contains("'kvdump convert "), "\(refused.messages)")
    let converted = await folder.run("convert")
    #expect(converted.status == .success, "\(converted.messages)")
    let old = folder.store + (Self.other == .lmdb10 ? ".lmdb-1.0" : ".lmdb-0.9")
    #expect(converted.data.contains(old), "\(converted.data)")
    #expect(FileManager.default.contentsEqual(atPath: old, andPath: Self.kept))
    let history = await folder.run("history")
    #expect(history.data.contains("second"), "\(history.data) \(history.messages)")
    let deleted = await folder.run("delete", "Note", "title == 'a'", "--yes")
    #expect(deleted.status == .success, "\(deleted.messages)")
    #expect(await folder.isSound())
    // A second conversion has nothing to do.
    let again = await folder.run("convert")
    #expect(again.status == .success)
    #expect(again.messages.contains("a file of \(PageFormat.ofEngine.engine) already"))
    #expect(FileManager.default.contentsEqual(atPath: old, andPath: Self.kept))
  }

  @Test func `convert refuses a file that is no store`() async throws {
    let folder = try StoreFolder()
    #expect(await folder.run("convert").status == .noInput)
    try Data("text".utf8).write(to: URL(fileURLWithPath: folder.store))
    let outcome = await folder.run("convert")
    #expect(outcome.status == .damagedData && outcome.messages.contains("not a store"))
    #expect(try folder.files() == [URL(fileURLWithPath: folder.store).lastPathComponent])
  }
}
