import Foundation
import LMDB
import LodestorePages
import LodestoreFormat
import Testing

@testable import EntityStore
@testable import KVDumpCommands

/// Messages for a person at a command line suggest commands, not calls of the library.
@Suite("Texts of failures")
struct FailureTextTests {
  private func failure(
    _ kind: LMDBError.Kind, code: Int32 = 0
  ) -> CommandFailure {
    let cause = LMDBError(kind, code: code, operation: "open", path: "a.lodestore")
    return .translated(StoreError(cause), store: "a.lodestore")
  }

  @Test func `failure texts name no option of programs`() {
    let network = failure(.unsupportedFileSystem("NFS"))
    #expect(
      network.message
        == "a.lodestore: is on NFS, on which memory-mapped stores are not known to be safe; copy it "
        + "to a local disk")
    #expect(network.code == "unsuitable-path" && network.status == .noInput)
    for memory in [
      failure(.engine, code: 12), CommandFailure.system(12, thing: "a.lodestore"),
    ] {
      #expect(memory.message.hasPrefix("a.lodestore: "))
      #expect(memory.message.contains("as with 'ulimit -v unlimited'"))
      #expect(!memory.message.contains("mapSizeInBytes"), "\(memory.message)")
      #expect(memory.status == .inputOutput)
    }
  }

  @Test func `the failure of a file with one commit names that state, not a missing store`()
    async throws
  {
    let folder = try StoreFolder()
    try Store(at: folder.store, entities: []).close()
    let outcome = await folder.run("verify", "--previous")
    #expect(outcome.status == .inputOutput)
    #expect(
      outcome.messages.contains(
        "the previous commit cannot be read, it has one commit only; leave out --previous"),
      "\(outcome.messages)")
    let full = CommandFailure.verification(
      LMDBError(.treesFull, operation: "open tree records.9", path: nil), of: "a.lodestore")
    #expect(full?.message.contains("has more trees than a store may have") == true)
    #expect(full?.message.contains("not a store") == false)
  }

  @Test func `the failure of a lock file reports its fault, not a missing store`()
    async throws
  {
    let folder = try StoreFolder()
    try Store(at: folder.store, entities: []).close()
    try "notes".write(toFile: folder.store + "-lock", atomically: false, encoding: .utf8)
    for command in ["verify", "info"] {
      let outcome = await folder.run(command)
      #expect(outcome.status == .noInput, "\(outcome.messages)")
      #expect(outcome.messages.contains("no lock file"), "\(outcome.messages)")
      #expect(!outcome.messages.contains("not a store"))
    }
    #expect(try String(contentsOfFile: folder.store + "-lock", encoding: .utf8) == "notes")
    let other = CommandFailure.verification(
      LMDBError(.mismatched(.otherLockFile), operation: "open", path: "a"), of: "a")
    #expect(other?.status == .tryAgain)
    #expect(
      other?.message.hasSuffix("use the path of that process, or close the store there first")
        == true)
  }

  /// The size is in the record of the free list of both meta pages.
  ///
  /// 512 is an allowed page size, but the second meta page would then be at another offset.
  @Test(arguments: [0, 5_000, 131_072, 512])
  func `the failure of an odd page size names the damaged header`(size: UInt32) async throws {
    let folder = try StoreFolder()
    try await folder.load(#"[{"k":1}]"#, "--entity", "E", "--unique", "k", "--infer")
    var bytes = try folder.bytes(folder.store)
    let whole = bytes
    for meta in [0, PageLayout.systemPageSize] {
      let start = meta + PageFormat.ofEngine.headerSize + 24
      bytes.replaceSubrange(start..<start + 4, with: withUnsafeBytes(of: size) { Data($0) })
    }
    try bytes.write(to: URL(fileURLWithPath: folder.store))
    for command in ["verify", "info"] {
      let outcome = await folder.run(command)
      #expect(outcome.status != .success)
      if command == "verify", size == 512 { continue }
      #expect(outcome.messages.contains("a page size of \(size) bytes"), "\(outcome.messages)")
      #expect(outcome.messages.contains("kvdump salvage"), "\(outcome.messages)")
      #expect(!outcome.messages.contains("not a store"), "\(outcome.messages)")
      #expect(!outcome.messages.contains("not an LMDB file"), "\(outcome.messages)")
    }
    let error = #expect(throws: StoreError.self) { try Store(at: folder.store, entities: []) }
    #expect(error?.code == .damaged, "\(error?.message ?? "")")
    // Salvage works if one of the two meta pages has a possible page size.
    bytes.replaceSubrange(..<PageLayout.systemPageSize, with: whole[..<PageLayout.systemPageSize])
    try bytes.write(to: URL(fileURLWithPath: folder.store))
    await folder.run("salvage", folder.path + "/saved.lodestore")
    let saved = try Store(at: folder.path + "/saved.lodestore", entities: [])
    let count = try saved.core.read { core in try core.count(of: core.entity(named: "E")) }
    saved.close()
    #expect(count == 1)
  }

  @Test func `the failure of an empty path names the empty path`() async throws {
    let folder = try StoreFolder()
    try await folder.load(#"[{"k":1}]"#, "--entity", "E", "--unique", "k", "--infer")
    let input = await folder.importing(["", "--entity", "E"])
    #expect(input.status == .noInput)
    #expect(input.messages.contains("an empty path: No such file or directory"))
    let memory = MemoryConsole()
    #expect(await KVDump.execute(["records", "", "E"], on: memory.console) == .usage)
    #expect(memory.messages.text.contains("the path of the store is empty"))
    #expect(await folder.isSound())
  }

  @Test func `the failure of a long pattern quotes the beginning of the pattern`() async throws {
    let folder = try StoreFolder()
    try await folder.load(#"[{"k":"a"}]"#, "--entity", "E", "--unique", "k", "--infer")
    let pattern = "(" + String(repeating: "b", count: 4_000)
    let outcome = await folder.run("query", "E", "k MATCHES '\(pattern)'", "--format", "json")
    #expect(outcome.status == .usage)
    #expect(outcome.messages.contains("bbb…' is refused: the group at 0 is not closed"))
    #expect(outcome.messages.utf8.count < 1_000, "\(outcome.messages.utf8.count)")
    #expect(await folder.isSound())
  }
}
