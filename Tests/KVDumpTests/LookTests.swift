import LMDB
import LodestoreBytes
import LodestorePages
import Testing

@testable import EntityStore
@testable import KVDumpCommands

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite("Commands that read")
struct LookTests {
  /// Two entities: one with an optional, a nested value and two indexes, one with hostile text.
  private func store() async throws -> StoreFolder {
    let folder = try StoreFolder()
    try await folder.load(
      #"""
      [{"name":"AFNetworking","version":"2.0.0","stars":30,"authors":{"Mattt":"m@x"},"home":"h"},
      {"name":"AFNetworking","version":"2.1.0","stars":31,"authors":["a",{"b":1}],"home":null},
      {"name":"Mantle, the","version":"1.0","stars":20,"authors":"GitHub","home":"g"}]
      """#, "--entity", "Pod", "--unique", "name,version", "--index", "stars", "--infer")
    try await folder.load(
      #"[{"id":5,"text":"\u001b[2J\n\u202e|*x*"}]"#, "--entity", "Note", "--unique", "id",
      "--infer")
    return folder
  }

  @Test func `the command records shows a table to people`() async throws {
    let folder = try await store()
    let outcome = await folder.run("records", "Pod", "--limit", "2", "--color", "never", width: 80)
    #expect(
      outcome.data
        == """
        _id  name          version  stars  authors          home
          1  AFNetworking  2.0.0       30  {"Mattt":"m@x"}  h
          2  AFNetworking  2.1.0       31  ["a",{"b":1}]    null

        """)
    #expect(outcome.messages == "2 of 3 records; --limit 0 for all\n")
  }

  @Test func `the command records selects fields, also inside nested values`() async throws {
    let folder = try await store()
    #expect(
      await folder.run("records", "Pod", "--fields", "_id,authors.Mattt,authors.1.b,stars").data
        == """
        {"_id":1,"authors.Mattt":"m@x","stars":30}
        {"_id":2,"authors.1.b":1,"stars":31}
        {"_id":3,"stars":20}

        """)
    let inside = await folder.run("records", "Pod", "--fields", "name.x")
    #expect(inside.status == .usage)
    #expect(inside.messages.contains("'name' is stored as string and has nothing inside"))
    let count = await folder.run("records", "Pod", "--fields", "name,authors.@count")
    #expect(count.status == .usage && count.data.isEmpty)
    #expect(count.messages.contains("is an expression"), "\(count.messages)")
  }

  @Test func `the command records skips and limits records`() async throws {
    let folder = try await store()
    let outcome = await folder.run(
      "records", "Pod", "--offset", "1", "--limit", "1", "--fields", "_id")
    #expect(outcome.data == "{\"_id\":2}\n")
    #expect(outcome.messages == "records 2 to 2 of 3; --limit 0 for all\n")
    #expect(await folder.run("records", "Pod", "--offset", "9").data.isEmpty)
  }

  @Test(arguments: [
    (["name=AFNetworking", "version=2.1.0"], "2", ""),
    (["version=2.0.0", "name=AFNetworking"], "1", ""),
    (["name=AFNetworking"], "1 2", ""), (["stars=20"], "3", ""), (["_id=3"], "3", ""),
    (["id=3"], "3", ""), (["id=3", "stars=20"], "3", ""),
    (["home=h"], "1", "no index begins with home"), (["home=h", "stars=30"], "1", "no index"),
    (["authors=GitHub"], "3", "no index"), (["authors={\"Mattt\":\"m@x\"}"], "1", "no index"),
  ])
  func `the command get finds records by values`(matches: [String], ids: String, note: String)
    async throws
  {
    let folder = try await store()
    let memory = MemoryConsole()
    let status = await KVDump.execute(
      ["get", folder.store, "Pod"] + matches + ["--fields", "_id", "--format", "csv"],
      on: memory.console)
    #expect(status == .success)
    #expect(
      memory.data.text.split(whereSeparator: \.isNewline).dropFirst().joined(separator: " ") == ids)
    if note.isEmpty {
      #expect(memory.messages.text.isEmpty)
    } else {
      #expect(memory.messages.text.contains(note))
    }
  }

  @Test(arguments: [["name=x"], ["_id=9"], ["id=1", "stars=20"], ["home=null", "stars=30"]])
  func `the command get ends with status 1 if no record has the values`(matches: [String])
    async throws
  {
    let folder = try await store()
    let memory = MemoryConsole()
    #expect(
      await KVDump.execute(["get", folder.store, "Pod"] + matches, on: memory.console) == .negative)
    #expect(memory.data.text.isEmpty)
    #expect(memory.messages.text.contains(": not found\n"))
  }

  @Test func `the command get finds NaN, zeros of both signs and whole nested values`() async throws
  {
    let folder = try StoreFolder()
    let schema = try folder.file(
      "schema.json",
      #"""
      {"entity":"E","attributes":[{"name":"d","type":"double"},{"name":"j","type":"json"},
      {"name":"t","type":"date","optional":true},{"name":"n","type":"decimal"}],
      "indexes":[{"attributes":["d"]},{"attributes":["n"]}]}
      """#)
    try await folder.load(
      #"""
      [{"d":"NaN","j":[1,{"a":2}],"n":"NaN"},{"d":0.0,"j":[1],"n":1},{"d":-0.0,"j":1,"n":1.50},
      {"d":"Infinity","j":"1","t":"2024-01-01","n":1}]
      """#, "--entity", "E", "--schema", schema, "--insert-only")
    for (matches, ids) in [
      (["d=NaN"], "1"), (["d=0"], "2 3"), (["d=-0.0"], "2 3"), (["d=Infinity"], "4"),
      (["n=NaN"], "1"), (["n=1.5"], "3"), (["j=[1,{\"a\":2}]"], "1"), (["j=1"], "3"),
      (["j=[1]", "d=0"], "2"), (["t=null"], "1 2 3"), (["t=2024-01-01", "n=1"], "4"),
      (["_id=3", "j=1"], "3"), (["d=NaN", "d=0"], ""),
    ] {
      let outcome = await folder.execute(
        "get", ["E", "--fields", "_id", "--format", "csv"] + matches)
      #expect(
        outcome.data.split(whereSeparator: \.isNewline).dropFirst().joined(separator: " ") == ids,
        "\(matches)")
    }
  }

  @Test func `the command get reads as few records as its plan`() async throws {
    let folder = try StoreFolder()
    try await QueriedStore.addItems(to: folder)
    let outcome = await folder.run("get", "Item", "rank=7", "k=57", "--fields", "k")
    #expect(outcome.data == "{\"k\":57}\n")
    #expect(outcome.messages == "")
    #expect(await folder.run("get", "Item", "_id=18446744073709551615").status == .negative)
  }

  @Test func `the command get prefers an attribute called id to the record's id`() async throws {
    let folder = try await store()
    #expect(await folder.run("get", "Note", "id=5", "--fields", "_id").data == "{\"_id\":1}\n")
    #expect(await folder.run("get", "Note", "id=1").status == .negative)
  }

  @Test(arguments: [
    (["stars"], "3 1 2"), (["stars", "--reverse"], "2 1 3"), (["2"], "3 1 2"),
    (["stars", "--from", "30"], "1 2"), (["stars", "--to", "30"], "3 1"),
    (["stars", "--from", "21", "--to", "30"], "1"), (["stars", "--from", "-5", "--to", "20"], "3"),
    (["stars", "--limit", "1", "--offset", "1"], "1"),
    (["name,version", "--from", "AFNetworking,2.1"], "2 3"),
    (["name+version", "--to", "AFNetworking"], "1 2"),
    (["name,version", "--from", #"["Mantle, the"]"#], "3"),
    (["name,version", "--from", #"["AFNetworking","2.0.1"]"#, "--reverse"], "3 2"),
  ])
  func `the command index walks an index`(arguments: [String], ids: String) async throws {
    let folder = try await store()
    let memory = MemoryConsole()
    let status = await KVDump.execute(
      ["index", folder.store, "Pod"] + arguments + ["--fields", "_id", "--format", "csv"],
      on: memory.console)
    #expect(status == .success, "\(memory.messages.text)")
    #expect(
      memory.data.text.split(whereSeparator: \.isNewline).dropFirst().joined(separator: " ") == ids)
  }

  @Test func `the command keys shows trees and their bytes`() async throws {
    let folder = try await store()
    #expect(
      await folder.run("keys", "--format", "csv").data
        == """
        tree,entries,depth,content\r
        buckets,0,0,the program's own keys and values\r
        catalogue,2,1,descriptions of the entities\r
        catalogue.copy,4,1,a second copy of the catalogue\r
        counters,1,1,"next record ids, and sizes of limited entities"\r
        digests,2,1,"digests of records, links and buckets"\r
        imports,2,1,"how far imports are, and their reports"\r
        index.1.1,3,1,index Pod.name+version (unique)\r
        index.1.2,3,1,index Pod.stars\r
        index.2.1,1,1,index Note.id (unique)\r
        lodestore,4,1,"format, UUID and number of the schema"\r
        records.1,3,1,records of Pod\r
        records.2,1,1,records of Note\r

        """)
    #expect(
      await folder.run("keys", "index.1.2", "--prefix", "15 1e").data
        == #"{"key":"151e0000000000000001","body":"","decoded":"30 -> 1"}"# + "\n")
    #expect(
      await folder.run("keys", "records.1", "--from", "0200000000000000", "--reverse").data
        .split(separator: "\n").map { $0.prefix(25) }
        == [#"{"key":"0300000000000000""#, #"{"key":"0200000000000000""#])
    #expect(
      await folder.run("keys", "lodestore", "--prefix", "66").data
        == #"{"key":"666f726d6174","body":"0100000006000000","#
        + #""decoded":"format: lowest reader 1, lowest writer 6"}"# + "\n")
    #expect(await folder.run("keys", "records.1", "--from", "02").status == .usage)
  }

  @Test func `the command keys shows trees of later versions, whatever their keys`() async throws {
    let folder = try await store()
    let store = try Store(at: folder.store, entities: [])
    try store.core.write { core in
      for hasNumbers in [true, false] {
        let tree = try #require(
          try core.store.environment.tree(
            "later." + (hasNumbers ? "numbers" : "texts"), isCreated: true,
            hasIntegerKeys: hasNumbers, in: core.writing))
        for number in [256, 1] as [UInt64] {
          try withUnsafeBytes(of: UInt8(number & 0xff)) { value in
            try core.writing.put(number, ByteView(value), in: tree)
          }
        }
      }
    }
    store.close()
    let trees = await folder.run("keys", "--format", "csv")
    #expect(trees.status == .success, "\(trees.messages)")
    #expect(trees.data.contains("later.numbers,2,1,") && trees.data.contains("later.texts,2,1,"))
    // Integer keys are in numeric order, and other keys in the order of their bytes.
    for (tree, keys) in [
      ("later.numbers", ["0100000000000000", "0001000000000000"]),
      ("later.texts", ["0001000000000000", "0100000000000000"]),
    ] {
      let pairs = await folder.run("keys", tree)
      #expect(pairs.status == .success, "\(pairs.messages)")
      #expect(
        pairs.data.split(separator: "\n").map { $0.prefix(25) } == keys.map { #"{"key":"\#($0)""# })
      let reversed = await folder.run("keys", tree, "--reverse", "--limit", "1")
      #expect(reversed.data.hasPrefix(#"{"key":"\#(keys[1])""#), "\(reversed.messages)")
    }
  }

  @Test func `the command info describes a store`() async throws {
    let folder = try await store()
    let text = await folder.run("info").data
    #expect(text.hasPrefix("{\"store\":\"\(folder.store)\",\"fileSize\":"))
    #expect(
      text.contains(
        #"{"entity":"Pod","records":3,"data":4096,"indexData":8192,"#
          + #""indexes":"name+version (unique), stars","digest":""#))
    let table = await folder.run("info", "--color", "never", width: 100).data
    #expect(table.contains("\nPod           3  4 KiB       8 KiB  name+version (unique), stars\n"))
  }

  @Test func `kvdump escapes control characters in the content of records`() async throws {
    let folder = try await store()
    for format in ["table", "line", "json", "jsonl", "markdown"] {
      let text = await folder.run("records", "Note", "--format", format, "--color", "never").data
      #expect(!text.unicodeScalars.contains { $0 == "\u{1b}" || $0 == "\u{202e}" }, "\(format)")
    }
    #expect(
      await folder.run("records", "Note").data
        == #"{"_id":1,"id":5,"text":"\u001b[2J\n\u202e|*x*"}"# + "\n")
    let get = await folder.run("get", "Note", "text=\u{1b}[2J")
    #expect(!get.messages.contains("\u{1b}"))
  }

  @Test func `reading commands change no byte of the file`() async throws {
    let folder = try await store()
    let before = try folder.bytes(folder.store)
    await folder.run("info")
    await folder.run("schema")
    await folder.run("records", "Pod")
    await folder.run("get", "Pod", "stars=1")
    await folder.run("index", "Pod", "stars")
    await folder.run("keys")
    await folder.run("keys", "catalogue")
    await folder.run("stat")
    await folder.run("verify")
    await folder.run("compact", folder.path + "/copy.lodestore")
    #expect(try folder.bytes(folder.store) == before)
  }
}

@Suite("Compact")
struct CompactTests {
  @Test func `the command compact makes a sound copy and leaves existing files unchanged`()
    async throws
  {
    let folder = try StoreFolder()
    try await folder.load(#"[{"k":1},{"k":2}]"#, "--entity", "E", "--unique", "k", "--infer")
    let copy = folder.path + "/b.lodestore"
    let outcome = await folder.run("compact", copy)
    #expect(outcome.status == .success)
    #expect(outcome.data.contains(#""entities":1,"records":2}"#))
    let memory = MemoryConsole()
    #expect(await KVDump.execute(["verify", copy], on: memory.console) == .success)
    let before = try folder.bytes(copy)
    let again = await folder.run("compact", copy)
    #expect(again.status == .cannotCreate)
    #expect(again.messages.hasSuffix("/b.lodestore: already exists; name a free path\n"))
    #expect(try folder.bytes(copy) == before)
    #expect(await folder.run("compact", folder.path + "/no/b").status == .cannotCreate)
  }
}

@Suite("Failures of commands")
struct TroubleTests {
  @Test(arguments: [
    ["info"], ["schema"], ["records", "E"], ["get", "E", "a=1"], ["index", "E", "a"], ["keys"],
    ["stat"], ["verify"], ["compact", "/tmp/never-made.lodestore"],
  ])
  func `a missing store, another program's file and a folder each have their own status`(
    command: [String]
  ) async throws {
    let folder = try StoreFolder()
    func status(_ path: String) async -> KVDumpCommands.ExitStatus {
      let memory = MemoryConsole()
      let arguments = [command[0], path] + command.dropFirst()
      let status = await KVDump.execute(arguments, on: memory.console)
      #expect(memory.messages.text.split(separator: "\n").count == 1, "\(memory.messages.text)")
      #expect(memory.messages.text.contains(path))
      return status
    }
    #expect(await status(folder.path + "/no.lodestore") == .noInput)
    #expect(!FileFacts.exists(folder.path + "/no.lodestore"))
    #expect(await status(try folder.file("text", "just some text")) == .damagedData)
    #expect(await status(try folder.file("empty", "")) == .damagedData)
  }

  @Test func `a failure proposes the nearest entity, attribute and index`() async throws {
    let folder = try StoreFolder()
    try await folder.load(
      #"[{"name":"a","version":"1"}]"#, "--entity", "Pod", "--unique", "name,version", "--infer")
    for (arguments, word) in [
      (["records", "Pods"], "Pod"), (["schema", "pod"], "Pod"), (["get", "Pod", "nmae=a"], "name"),
      (["records", "Pod", "--fields", "verison"], "version"),
      (["index", "Pod", "name,versio"], "name+version"), (["keys", "record.1"], "records.1"),
    ] {
      let memory = MemoryConsole()
      let line = [arguments[0], folder.store] + arguments.dropFirst()
      #expect(await KVDump.execute(line, on: memory.console) == .usage)
      #expect(memory.messages.text.contains("did you mean \"\(word)\"?"), "\(memory.messages.text)")
      #expect(memory.data.text.isEmpty)
    }
  }

  @Test func `a failure names the path of an index over elements`() async throws {
    let folder = try StoreFolder()
    let options = ["--entity", "E", "--unique", "k", "--infer", "--index", "tags[]"]
    let file = try folder.file("p.json", #"[{"k":1,"tags":["x"]}]"#)
    let first = await folder.importing([file] + options)
    #expect(first.status == .success, "\(first.messages)")
    let outcome = await folder.run("index", "E", "tags[]")
    #expect(outcome.status == .usage)
    #expect(outcome.messages.contains(#"'"x" IN tags'"#), "\(outcome.messages)")
    // The second import adds no index, so its messages mention none.
    let again = await folder.importing([file] + options)
    #expect(!again.messages.contains("added index"), "\(again.messages)")
    let other = try folder.file("o.json", #"[{"k":2,"tags":["x"],"more":[1]}]"#)
    let more = await folder.importing([other] + options + ["--index", "more[]"])
    #expect(more.messages.contains("E: added index more[]\n"), "\(more.messages)")
    #expect(await folder.isSound())
  }

  @Test func `the command get refuses values that the attribute's type cannot hold`() async throws {
    let folder = try StoreFolder()
    try await folder.load(#"[{"n":1}]"#, "--entity", "E", "--unique", "n", "--infer")
    let get = await folder.run("get", "E", "n=x")
    #expect(get.status == .usage)
    #expect(get.messages.contains("\"x\": 'n' takes an integer that fits int64"))
    #expect(await folder.run("index", "E", "n", "--from", "1.5").status == .usage)
    #expect(await folder.run("index", "E", "n", "--from", "[1,2]").status == .usage)
    #expect(await folder.run("get", "E", "_id=-1").status == .usage)
  }

  @Test func `a failure reports damage and the next step`() async throws {
    let folder = try StoreFolder()
    try await folder.load(#"[{"n":"needle"}]"#, "--entity", "E", "--unique", "n", "--infer")
    var bytes = try folder.bytes(folder.store)
    bytes.removeLast(bytes.count / 2)
    let path = folder.path + "/cut.lodestore"
    try bytes.write(to: URL(fileURLWithPath: path))
    let memory = MemoryConsole()
    #expect(await KVDump.execute(["info", path], on: memory.console) == .damagedData)
    #expect(memory.messages.text.contains("bytes"))
  }

  @Test(arguments: [7, 15, 23, 31] as [Int])
  func `a failure reports a tree whose record counts more than a file can hold`(offset: Int)
    async throws
  {
    let folder = try StoreFolder()
    try await folder.load(#"[{"n":1}]"#, "--entity", "E", "--unique", "n", "--infer")
    var file = try FaultFile(path: folder.store)
    // The bytes to find are a node of the tree of names: value size 48, flag 2, and the key size.
    // The counts of the tree follow.
    let format = PageFormat.ofEngine
    let key = format.key(ofTree: "records.1")
    let node = [48, 0, 0, 0, 2, 0, UInt8(key.count), 0] + key
    let record = 8 + format.valueOffset(behindKeyOf: key.count)
    for start in file.bytes.indices where file.bytes[start...].starts(with: node) {
      file.bytes[start + record + 8 + offset] = 0x7f
    }
    try file.write(to: folder.store)
    let outcome = await folder.run("info")
    #expect(outcome.status == .damagedData)
    #expect(outcome.messages.contains("tree-count: records.1"))
    #expect(outcome.messages.contains("kvdump salvage"))
  }
}
