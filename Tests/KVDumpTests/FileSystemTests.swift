import Foundation
import LMDB
import LodestoreVerifier
import Testing

@testable import KVDumpCommands

@Suite(.serialized) struct `On small file systems` {
  private static func rows(_ numbers: Range<Int>, text: String = "t") -> String {
    numbers.map { #"{"k":\#($0),"v":\#($0 % 97),"t":"\#(text) \#($0)"}"# }.joined(separator: "\n")
  }

  private func expectSound(_ path: String) throws {
    let report = try Verifier.verify(path: path)
    #expect(report.isSound && report.findings == [])
  }

  /// Expects an error message in time; a bus error has status 65.
  private func expectFull(
    _ outcome: SmallFileSystem.Outcome, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(outcome.status == .inputOutput, "\(outcome)", sourceLocation: sourceLocation)
    #expect(
      ["disk has", "space left", "room on the disk", "bytes free"].contains {
        outcome.messages.contains($0)
      }, "\(outcome)", sourceLocation: sourceLocation)
    // The command must end. The limit is generous for a busy machine, because a hang would never
    // end.
    #expect(outcome.seconds < 150, "\(outcome)", sourceLocation: sourceLocation)
  }

  @Test(arguments: SmallFileSystem.Kind.listed)
  func `a full disk is reported, harms nothing, and room heals the store`(
    kind: SmallFileSystem.Kind
  )
    async throws
  {
    guard let tool = ToolProcess.path, let disk = try SmallFileSystem(kind) else { return }
    let store = disk.path + "/a.lodestore"
    let small = try disk.input("small.jsonl", Self.rows(0..<2_000))
    let first = try disk.run(
      tool, "import", store, small, "--entity", "E", "--unique", "k", "--infer", "--index", "v")
    try #require(first.status == .success, "\(first)")
    let before = await KilledFolder.content(of: store)
    let names = ["a.lodestore", "a.lodestore-lock"]

    // There is room for some pages of the import, but not for all.
    let large = try disk.input(
      "large.jsonl", Self.rows(2_000..<22_000, text: String(repeating: "x", count: 1_000)))
    disk.fill(leaving: 4 << 20)
    let size = FileFacts(store)?.size ?? 0
    let failed = try disk.run(tool, "import", store, large, "--entity", "E", "--unique", "k")
    expectFull(failed)
    try expectSound(store)
    let kept = await KilledFolder.content(of: store)
    #expect(kept.hasPrefix(before))
    let added = kept.split(separator: "\n").count - 2_000
    #expect(added % 1_000 == 0 && added < 20_000, "\(added)")
    #expect(try disk.files() == names)
    let usedSize = try ReadStore.withEnvironment(store, on: MemoryConsole().console) {
      try $0.info.usedBytes
    }
    #expect((FileFacts(store)?.size ?? 0) <= usedSize, "room that was not given back")
    #expect(usedSize >= size)

    // The file system has no room left.
    disk.fill()
    #expect(try disk.run(tool, "count", store, "E").status == .success)
    let update = try disk.run(tool, "update", store, "E", "--all", #"t="other""#, "--yes")
    expectFull(update)
    #expect(await KilledFolder.content(of: store) == kept)
    for (command, out) in [("compact", "out.lodestore"), ("salvage", "out.lodestore")] {
      expectFull(try disk.run(tool, command, store, disk.path + "/" + out))
    }
    expectFull(
      try disk.run(
        tool, "import", disk.path + "/new.lodestore", small, "--entity", "E", "--unique", "k",
        "--infer"))
    expectFull(try disk.run(tool, "export", store, "E", disk.path + "/out.jsonl"))
    #expect(try disk.files() == names)
    let delete = try disk.run(tool, "delete", store, "E", "k < 10", "--yes")
    if delete.status != .success { expectFull(delete) }
    print("\(kind): a delete on the full disk: \(delete.status == .success ? "done" : "refused")")

    // Opening creates the lock file and maps it, so each byte of it must have room on the disk.
    #expect(unlink(store + "-lock") == 0)
    disk.fill()
    let opening = try disk.run(tool, "count", store, "E")
    if opening.status != .success { expectFull(opening) }
    #expect(try disk.files().filter { $0.hasPrefix(".") } == [])

    disk.free()
    let healed = try disk.run(tool, "delete", store, "E", "k < 1000", "--yes")
    #expect(healed.status == .success, "\(healed)")
    let again = try disk.run(
      tool, "import", store, small, "--entity", "E", "--unique", "k")
    #expect(again.status == .success, "\(again)")
    let whole = await KilledFolder.content(of: store)
    #expect(
      Set(whole.split(separator: "\n")).isSuperset(of: before.split(separator: "\n")))
    try expectSound(store)
  }

  @Test(arguments: SmallFileSystem.Kind.listed)
  func `a read-only file system is read, and refuses changes`(kind: SmallFileSystem.Kind)
    throws
  {
    guard let tool = ToolProcess.path, let disk = try SmallFileSystem(kind) else { return }
    let store = disk.path + "/a.lodestore"
    let rows = try disk.input("rows.jsonl", Self.rows(0..<500))
    let first = try disk.run(
      tool, "import", store, rows, "--entity", "E", "--unique", "k", "--infer")
    try #require(first.status == .success, "\(first)")
    try #require(disk.makeReadOnly())
    #expect(try disk.run(tool, "count", store, "E").data.contains("500"))
    #expect(try disk.run(tool, "verify", store).status == .success)
    for outcome in [
      try disk.run(tool, "delete", store, "E", "k < 10", "--yes"),
      try disk.run(tool, "import", store, rows, "--entity", "E", "--unique", "k"),
      try disk.run(tool, "export", store, "E", disk.path + "/out.jsonl"),
      try disk.run(tool, "compact", store, disk.path + "/out.lodestore"),
    ] {
      #expect(outcome.status == .notPermitted, "\(outcome)")
    }
  }

  @Test(arguments: SmallFileSystem.Kind.others)
  func `a backup on any file system is made, checked and read`(kind: SmallFileSystem.Kind)
    async throws
  {
    guard let tool = ToolProcess.path, let disk = try SmallFileSystem(kind) else { return }
    let folder = try StoreFolder()
    try await folder.load(
      Self.rows(0..<500), "--entity", "E", "--unique", "k", "--infer", name: "rows.jsonl")
    let copy = disk.path + "/copy.lodestore"
    for (command, out) in [("compact", copy), ("salvage", disk.path + "/saved.lodestore")] {
      let outcome = try disk.run(tool, command, folder.store, out)
      #expect(outcome.status == .success, "\(outcome)")
      for reading in ["verify", "stat", "info"] {
        let outcome = try disk.run(tool, reading, out)
        #expect(outcome.status == .success, "\(outcome)")
      }
      #expect(try disk.run(tool, "count", out, "E").data.contains("500"))
      try expectSound(out)
    }
    // A plain copy by the file system contains the commit before the newest one.
    let plain = disk.path + "/plain.lodestore"
    try FileManager.default.copyItem(atPath: folder.store, toPath: plain)
    for line in [
      ["verify", plain, "--previous"], ["compact", copy, disk.path + "/again.lodestore"],
      ["salvage", copy, folder.path + "/home.lodestore"],
    ] {
      let outcome = try disk.run(tool, line[0], line[1], line[2])
      #expect(outcome.status == .success, "\(line): \(outcome)")
    }
    let refused = try disk.run(tool, "delete", copy, "E", "k < 10", "--yes")
    #expect(refused.status == .noInput && refused.messages.contains("file system"), "\(refused)")
    try expectSound(copy)
    #expect(try disk.files().allSatisfy { !$0.hasPrefix(".") })
  }

  @Test func `every command reports a lack of descriptors, whichever open call fails`() async throws
  {
    guard let tool = ToolProcess.path else { return }
    let folder = try StoreFolder()
    try await folder.load(
      Self.rows(0..<500), "--entity", "E", "--unique", "k", "--infer", name: "rows.jsonl")
    let before = await KilledFolder.content(of: folder.store)
    var endings: [Int32: Int] = [:]
    for count in 4...24 {
      for line in [
        #"count "$1" E"#, #"compact "$1" "$1.copy""#, #"export "$1" E "$1.jsonl""#,
        #"update "$1" E --all 'v:=k' --yes"#,
      ] {
        let process = try ToolProcess.start(
          #"ulimit -n \#(count); exec "$0" \#(line)"#, tool, folder.store)
        process.waitUntilExit()
        #expect(process.terminationReason == .exit, "\(count): \(line)")
        #expect([0, 74].contains(process.terminationStatus), "\(count): \(line)")
        endings[process.terminationStatus, default: 0] += 1
        for name in [".copy", ".jsonl"] { unlink(folder.store + name) }
      }
    }
    #expect(endings[0] ?? 0 > 0 && endings[74] ?? 0 > 0, "\(endings)")
    #expect(try !folder.files().contains { $0.hasPrefix(".lodestore.") })
    #expect(await KilledFolder.content(of: folder.store).count >= before.count)
    #expect(await folder.isSound())
  }

  @Test(arguments: 248...255)
  func `a store name is refused if the name of its lock file would be too long`(count: Int)
    async throws
  {
    let folder = try StoreFolder()
    let rows = try folder.file("rows.jsonl", Self.rows(0..<10))
    let name = String(repeating: "n", count: count)
    for command in [
      ["import", folder.path + "/" + name, rows, "--entity", "E", "--unique", "k", "--infer"],
      ["compact", folder.store, folder.path + "/" + name],
    ] {
      if command[0] == "compact" {
        try await folder.load(
          Self.rows(0..<10), "--entity", "E", "--unique", "k", "--infer", name: "rows.jsonl")
      }
      let memory = MemoryConsole()
      let status = await KVDump.execute(command, on: memory.console)
      let made = try folder.files().filter { $0.hasPrefix("n") || $0.hasPrefix(".") }
      if count + 5 <= 255 {
        #expect(status == .success, "\(memory.messages.text)")
        #expect(made.first == name)
        for name in made { unlink(folder.path + "/" + name) }
      } else {
        #expect([.noInput, .usage].contains(status), "\(memory.messages.text)")
        #expect(memory.messages.text.contains("lock file"), "\(memory.messages.text)")
        #expect(made == [])
      }
    }
  }
}
