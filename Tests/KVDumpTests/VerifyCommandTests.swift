import LodestoreFormat
import Testing

@testable import KVDumpCommands
@testable import LodestorePages
@testable import LodestoreVerifier

@Suite("kvdump verify and stat")
struct VerifyCommandTests {
  @Test
  func `verify lists each tree and exits with 0 if the file is sound`() async throws {
    let store = try VerifiedStore()
    let memory = MemoryConsole(width: 100, environment: ["NO_COLOR": "1"])
    #expect(await memory.run("verify", store.path) == .success)
    let lines = memory.data.text.split(separator: "\n")
    #expect(lines.contains("Film       6 records, 24 index entries  ok"))
    #expect(lines.allSatisfy { $0.hasSuffix("  ok") })
    #expect(memory.messages.text == "")
  }

  @Test
  func `verify lists findings below the trees and exits with 1`() async throws {
    let store = try VerifiedStore()
    try store.change { try $0.transaction.empty($0.tree(.index(entity: 1, index: 2))) }
    let memory = MemoryConsole(width: 100, environment: ["NO_COLOR": "1"])
    #expect(await memory.run("verify", store.path, "--limit", "2") == .negative)
    let lines = memory.data.text.split(separator: "\n")
    #expect(lines.contains("Film       6 records, 18 index entries  6 problems"))
    #expect(
      lines.filter { $0.hasPrefix("  entry-missing: Film.title (index.1.2), record ") }.count == 2)
    // Each line ends with the name of the rule in Format.md.
    #expect(lines.filter { $0.hasSuffix(" [index.entry-there]") }.count == 2)
    #expect(memory.messages.text == "2 of 6 problems; --limit 0 for all\n")
  }

  @Test
  func `verify writes one object with the findings in JSON`() async throws {
    let store = try VerifiedStore()
    try store.change { try $0.put(HeaderField.schema.key, [1], .header) }
    let memory = MemoryConsole()
    #expect(await memory.run("verify", store.path, "--format", "json") == .negative)
    let text = memory.data.text
    #expect(text.hasPrefix(#"{"store":""#))
    #expect(text.contains(#""sound":false,"trees":[{"tree":"lodestore","entries":4,"findings":1}"#))
    #expect(
      text.contains(
        #""findings":[{"code":"header","rule":"header.fields","tree":"lodestore","subject":"schema","#
          + #""detail":"has 1 bytes, must have 8"}]"#))
  }

  @Test
  func `verify of a newer file names the newest version that kvdump knows`() async throws {
    let store = try VerifiedStore()
    try store.change { try $0.put(HeaderField.format.key, [99, 0, 0, 0, 99, 0, 0, 0], .header) }
    let memory = MemoryConsole()
    #expect(await memory.run("verify", store.path) == .damagedData)
    #expect(
      memory.messages.text.contains(
        "needs format version 99, this kvdump knows versions up to \(FormatVersion.current.rawValue); use a "
          + "newer one"))
  }

  @Test
  func `a file with damaged pages is listed and not opened`() async throws {
    let store = try VerifiedStore()
    var file = try FaultFile(path: store.path)
    file.put(UInt64(1), file.newestMeta + file.mainRoot)
    try file.write(to: store.path)
    let memory = MemoryConsole(width: 100, environment: ["NO_COLOR": "1"])
    #expect(await memory.run("verify", store.path) == .negative)
    #expect(memory.data.text.contains("  page: tree names: page 1 is named, pages are 2 to "))
    #expect(memory.messages.text.contains("the records in them were not looked at"))
    let stat = MemoryConsole(width: 100, environment: ["NO_COLOR": "1"])
    #expect(await stat.run("stat", store.path) == .damagedData)
  }

  @Test
  func `a file that is no store gives status 65, and a missing file 66`() async throws {
    let store = try VerifiedStore()
    try FaultFile.makeForeign(at: store.path + ".foreign")
    try FaultFile(bytes: Array("plain text".utf8)).write(to: store.path + ".text")
    for command in ["verify", "stat"] {
      #expect(await MemoryConsole().run(command, store.path + ".text") == .damagedData)
      #expect(await MemoryConsole().run(command, store.path + ".missing") == .noInput)
    }
    #expect(await MemoryConsole().run("verify", store.path + ".foreign") == .damagedData)
  }

  @Test
  func `stat has a row for each tree with its content, and sums up the file`() async throws {
    let store = try VerifiedStore()
    let memory = MemoryConsole(width: 120, environment: ["NO_COLOR": "1"])
    #expect(await memory.run("stat", store.path) == .success)
    let lines = memory.data.text.split(separator: "\n")
    #expect(lines.first?.hasPrefix("TREE") == true)
    // The lines are: the header, 5 trees of every store, 2 + 5 trees of the entities, and 2 trees
    // of LMDB.
    #expect(lines.count == 15)
    #expect(lines.contains { $0.hasPrefix("index.1.4   Film.isShort+price ") })
    let pageSize = try PageChecker.check(path: store.path).pageSizeInBytes
    #expect(memory.messages.text.contains("\(pageSize / 1024) KiB pages"))
  }

  @Test
  func `stat has the counts of the page checker in JSON`() async throws {
    let store = try VerifiedStore()
    let pages = try PageChecker.check(path: store.path)
    let memory = MemoryConsole()
    #expect(await memory.run("stat", store.path, "--format", "json") == .success)
    let text = memory.data.text
    #expect(text.contains(#""pages":\#(pages.pageCount),"freePages":\#(pages.freePageCount),"#))
    #expect(
      text.contains(
        #"{"tree":"records.1","holds":"Film","depth":1,"branchPages":0,"leafPages":1,"#
          + #""overflowPages":0,"entries":6,"#))
  }
}
