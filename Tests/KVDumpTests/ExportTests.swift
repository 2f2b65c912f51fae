// Whole Foundation: `FileManager` lists folders.
import Foundation
import Testing

@testable import EntityStore
@testable import KVDumpCommands

@Suite("Export")
struct ExportTests {
  @Test func `export writes every format to standard output`() async throws {
    let folder = try await QueriedStore.make()
    func text(_ arguments: String...) async -> String {
      await folder.execute(
        "export", ["Pod", "--where", "stars == 20", "--fields", "name,stars,license"] + arguments
      ).data
    }
    let lines = """
      {"name":"Mantle","stars":20,"license":{"file":"L","type":"BSD"}}
      {"name":"Ecole","stars":20,"license":"MIT"}

      """
    #expect(await text() == lines)
    #expect(await text("-") == lines)
    #expect(await text("--format", "jsonl") == lines)
    #expect(
      await text("--format", "json", "--sort", "name") == """
        [
        {"name":"Ecole","stars":20,"license":"MIT"},
        {"name":"Mantle","stars":20,"license":{"file":"L","type":"BSD"}}
        ]

        """)
    #expect(
      await text("--format", "csv")
        == "name,stars,license\r\nMantle,20,\"{\"\"file\"\":\"\"L\"\",\"\"type\"\":\"\"BSD\"\"}\"\r\n"
        + "Ecole,20,MIT\r\n")
    #expect(
      await folder.run("export", "Pod", width: 40).data.hasPrefix("{\"name\":\"AFNetworking\""))
  }

  @Test func `export writes all attributes and no ids unless they are chosen`() async throws {
    let folder = try await QueriedStore.make()
    let all = await folder.run("export", "Pod").data
    #expect(
      all
        == (await folder.run("records", "Pod", "--fields", "name,version,stars,license,tags").data))
    let ids = await folder.run("export", "Pod", "--fields", "_id,license.type", "--format", "csv")
    #expect(ids.data == "_id,license.type\r\n1,\r\n2,MIT\r\n3,BSD\r\n4,\r\n5,\r\n")
    #expect(
      await folder.run(
        "export", "Pod", "--where", "name == %@", "--arg", "Mantle", "--fields", "_id"
      )
      .data == "{\"_id\":3}\n")
  }

  @Test(arguments: [
    ("p.jsonl", "{\"k\""), ("p.json", "[\n{"), ("p.csv", "k,v\r\n"), ("p", "{\"k\""),
  ])
  func `export writes a file in the format of its name and reports`(
    name: String, start: String
  ) async throws {
    let folder = try StoreFolder()
    let rows = (0..<3000).map { "{\"k\":\($0),\"v\":\"\($0 * $0)\"}" }.joined(separator: ",")
    try await folder.load("[\(rows)]", "--entity", "E", "--unique", "k", "--infer")
    let file = folder.path + "/" + name
    let outcome = await folder.run("export", "E", file)
    #expect(outcome.status == .success, "\(outcome.messages)")
    let text = String(decoding: try folder.bytes(file), as: UTF8.self)
    #expect(text.hasPrefix(start))
    #expect(
      outcome.data
        == #"{"entity":"E","records":3000,"file":"\#(file)","size":\#(text.utf8.count)}"# + "\n")
    #expect(try folder.files() == ["a.lodestore", "a.lodestore-lock", name, "page.json"])
  }

  @Test func `export replaces a file only with an option, and keeps a link`() async throws {
    let folder = try await QueriedStore.make()
    let file = try folder.file("old.jsonl", "old")
    let link = folder.path + "/link.jsonl"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "old.jsonl")
    for path in [file, link] {
      await folder.expectFailure(
        "export", ["Pod", path], .cannotCreate,
        "kvdump: \(path): already exists; --force replaces it\n")
    }
    #expect(try folder.bytes(file) == Data("old".utf8))
    #expect(await folder.run("export", "Pod", link, "--force").status == .success)
    #expect(
      String(decoding: try folder.bytes(file), as: UTF8.self)
        == (await folder.run("export", "Pod").data))
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "old.jsonl")
  }

  @Test func `export never replaces the store`() async throws {
    let folder = try await QueriedStore.make()
    let before = try folder.bytes(folder.store)
    let link = folder.path + "/link"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: folder.store)
    for path in [folder.store, link, folder.store + "-lock"] {
      await folder.expectFailure(
        "export", ["Pod", path, "--force"], .usage,
        "kvdump: \"\(path)\": is the store itself; name another file\n")
    }
    #expect(try folder.bytes(folder.store) == before)
  }

  @Test func `a failed export leaves no file and no part of a file`() async throws {
    let folder = try await QueriedStore.make()
    let files = try folder.files()
    let file = folder.path + "/out.json"
    for arguments in [
      ["--where", "nmae == 1"], ["--where", "stars >"], ["--sort", "x"], ["--fields", "x"],
      ["--format", "table"], ["--arg", "x"],
    ] {
      #expect(await folder.execute("export", ["Pod", file] + arguments).status == .usage)
    }
    #expect(await folder.run("export", "Pods", file).status == .usage)
    #expect(await folder.run("export", "Pod", folder.path + "/no/out.json").status == .cannotCreate)
    #expect(await folder.run("export", "Pod", folder.path).status == .cannotCreate)
    #expect(try folder.files() == files)

    var bytes = Array(try folder.bytes(folder.store))
    let offset = try #require(bytes.indices.last { bytes[$0...].starts(with: "Mantle".utf8) })
    bytes[offset] = UInt8(ascii: "m")
    for offset in bytes.indices where bytes[offset...].starts(with: "Mantle".utf8) {
      bytes[offset] = UInt8(ascii: "m")
    }
    try Data(bytes).write(to: URL(fileURLWithPath: folder.store))
    let outcome = await folder.run("export", "Pod", file)
    #expect(outcome.status == .damagedData)
    #expect(outcome.messages.contains("Pod 3") && outcome.messages.contains("checksum"))
    #expect(try folder.files() == files)
  }

  @Test func `export writes directly to a device, and reports a full disk`() async throws {
    let folder = try await QueriedStore.make()
    #expect(await folder.run("export", "Pod", "/dev/null").status == .success)
    #if os(Linux)
      let full = await folder.run("export", "Pod", "/dev/full", "--force")
      #expect(full.status == .inputOutput)
      #expect(
        full.messages
          == "kvdump: /dev/full: No space left on device; make room on the disk and try again\n")
    #endif
  }

  @Test func `export ends quietly with status 141 when its reader closes the pipe`() async throws {
    signal(SIGPIPE, SIG_IGN)
    let folder = try StoreFolder()
    try await QueriedStore.addItems(to: folder)
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    close(ends[0])
    defer { close(ends[1]) }
    let messages = MemorySink()
    let console = Console(
      output: DescriptorSink(descriptor: ends[1], name: "standard output"), errors: messages)
    #expect(await KVDump.execute(["export", folder.store, "Item"], on: console) == .brokenPipe)
    #expect(messages.text.isEmpty)
  }

  @Test func `export writes one commit while a writer makes others`() async throws {
    let folder = try StoreFolder()
    try await QueriedStore.addItems(to: folder)
    let store = folder.store
    // The commands of one process share an open environment. The test opens it for writing first,
    // so that no command opens it read-only.
    let open = try Store(at: store, entities: [])
    defer { open.close() }
    let writer = Task {
      for round in 1...20 {
        let memory = MemoryConsole()
        #expect(
          await memory.run("update", store, "Item", "--all", "rank=\(round)", "--yes")
            == .success, "\(memory.messages.text)")
      }
    }
    for number in 1...10 {
      let file = folder.path + "/\(number).csv"
      #expect(await folder.run("export", "Item", file, "--fields", "rank").status == .success)
      let rows = String(decoding: try folder.bytes(file), as: UTF8.self)
        .split(separator: "\r\n").dropFirst()
      #expect(rows.count == 1000)
      #expect(Set(rows).count == 1 || Set(rows).count == 50)
    }
    await writer.value
    #expect(await folder.isSound())
  }
}

@Suite("Export and import")
struct ExportRoundTripTests {
  /// Exports an entity, imports it into a new store and compares the records, ids apart.
  private func roundTrip(
    _ entity: String, in folder: StoreFolder, formats: [String] = ["jsonl", "json"]
  ) async throws {
    let schema = try folder.file(
      "schema.json", await folder.run("schema", entity, "--format", "json").data)
    let records = try folder.contents(of: entity, in: folder.store)
    for format in formats {
      let file = folder.path + "/records.\(format)"
      #expect(await folder.run("export", entity, file).status == .success)
      let copy = folder.path + "/\(format).lodestore"
      let memory = MemoryConsole()
      let status = await KVDump.execute(
        ["import", copy, file, "--entity", entity, "--schema", schema, "--insert-only"],
        on: memory.console)
      #expect(status == .success, "\(memory.messages.text)")
      #expect(memory.data.text.contains(#""rejected":0,"#), "\(memory.data.text.prefix(500))")
      #expect(try folder.contents(of: entity, in: copy) == records)
      #expect(await MemoryConsole().run("verify", copy) == .success)
    }
  }

  @Test func `export and import keep decimals that no double is near to`() async throws {
    let folder = try StoreFolder()
    let schema = try folder.file(
      "decimals.json",
      """
      [{"entity":"E","attributes":[{"number":1,"name":"d","type":"decimal","optional":false}],\
      "indexes":[]}]
      """)
    let texts = ["1e308", "-1e309", "1e16383", "5e-324", "2e-324", "-1e-16384", "0", "1e127"]
    let rows = texts.map { "{\"d\":\"\($0)\"}" }.joined(separator: "\n")
    try await folder.load(
      rows, "--entity", "E", "--schema", schema, "--insert-only", name: "d.jsonl")
    try await roundTrip("E", in: folder)
  }

  @Test(arguments: ["jsonl", "json"])
  func `export and import through a folder keep a whole store`(format: String) async throws {
    let folder = try await QueriedStore.make()
    try await QueriedStore.addItems(to: folder)
    let out = folder.path + "/out"
    let outcome = await folder.run("export", "--all-entities", out, "--format", format)
    #expect(outcome.status == .success, "\(outcome.messages)")
    #expect(
      outcome.data.contains(
        #"{"entity":"Pod","records":5,"file":"\#(out)/Pod.\#(format)","size":"#))
    let copy = folder.path + "/copy.lodestore"
    for entity in ["Pod", "Item"] {
      let memory = MemoryConsole()
      let status = await KVDump.execute(
        [
          "import", copy, "\(out)/\(entity).\(format)", "--entity", entity, "--schema",
          "\(out)/all.schema.jsonl", "--insert-only",
        ], on: memory.console)
      #expect(status == .success, "\(memory.messages.text)")
      #expect(
        try folder.contents(of: entity, in: copy) == folder.contents(of: entity, in: folder.store))
    }
    let schema = MemoryConsole()
    #expect(await schema.run("schema", copy) == .success)
    #expect(schema.data.text == (await folder.run("schema").data))

    let again = await folder.run("export", "--all-entities", out, "--format", format)
    #expect(again.status == .cannotCreate)
    #expect(again.messages.contains("all.schema.jsonl: already exists; --force replaces it"))
    let forced = await folder.run("export", "--all-entities", out, "--format", format, "--force")
    #expect(forced.data == outcome.data)
  }

  @Test(arguments: [
    ["Pod", "--all-entities", "x"], ["--all-entities", "x", "--where", "a == 1"], [],
    ["--all-entities", "x", "--sort", "a"], ["--all-entities", "x", "--fields", "a"],
  ])
  func `an export of a whole store refuses a selection`(arguments: [String]) async throws {
    let folder = try StoreFolder()
    let outcome = await folder.execute("export", arguments)
    #expect(outcome.status == .usage)
    #expect(outcome.messages.hasSuffix("see 'kvdump export --help'\n"))
    #expect(try folder.files().isEmpty)
  }

  @Test func `export and import keep the podspecs to the byte`() async throws {
    guard let file = RealData.file("cocoapods/specs-trunk.jsonl") else { return }
    let folder = try StoreFolder()
    await folder.run(
      "import", file, "--records", "result", "--entity", "Pod", "--unique", "name,version",
      "--infer")
    try await roundTrip("Pod", in: folder, formats: ["jsonl"])
  }

  @Test func `export and import keep the fireballs to the byte`() async throws {
    guard let file = RealData.file("fireball/fireball-2026-05.json") else { return }
    let folder = try StoreFolder()
    await folder.run("import", file, "--entity", "Fireball", "--unique", "date", "--infer")
    try await roundTrip("Fireball", in: folder)
  }

  @Test func `export and import keep the swapi films to the byte`() async throws {
    guard let file = RealData.file("swapi/films.jsonl") else { return }
    let folder = try StoreFolder()
    await folder.run(
      "import", file, "--records", "results", "--entity", "Film", "--unique", "episode_id",
      "--infer")
    try await roundTrip("Film", in: folder)
  }

  @Test func `export and import keep the current values of records of older layouts`() async throws
  {
    let folder = try StoreFolder()
    try await folder.load(#"[{"k":1,"a":"x"}]"#, "--entity", "E", "--unique", "k", "--infer")
    try await folder.load(#"[{"k":2,"a":"y","b":[true]}]"#, "--entity", "E", "--infer")
    let lines = await folder.run("export", "E").data
    #expect(lines == "{\"k\":1,\"a\":\"x\",\"b\":null}\n{\"k\":2,\"a\":\"y\",\"b\":[true]}\n")
  }
}

extension StoreFolder {
  /// The content of an entity's records in order, without the parts that depend on their ids.
  func contents(of entity: String, in store: String) throws -> [[UInt8]] {
    let core = try StoreCore(path: store, options: ReadStore.options)
    defer { core.close() }
    return try core.read { core in
      let stored = try core.entity(named: entity)
      var contents: [[UInt8]] = []
      try core.forEachRecord(of: stored) { (_, view) throws(StoreError) in
        contents.append(Array(view.content))
      }
      return contents
    }
  }
}
