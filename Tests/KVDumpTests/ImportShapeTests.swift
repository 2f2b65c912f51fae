import EntityStore
import Testing

@testable import KVDumpCommands

/// The shapes in which services send their records.
@Suite struct `Records of other shapes` {
  private let members =
    #"{"ok": true, "result": {"b": {"n": 2}, "a": {"n": 1}, "c\u0041": {"n": 3}}}"#

  private func rows(_ folder: StoreFolder, _ fields: String) async -> [String] {
    await folder.run("query", "E", "--fields", fields, "--format", "csv").data
      .split(whereSeparator: \.isNewline).dropFirst().map { String($0) }
  }

  @Test func `the members of an object become records, with their keys under a name`() async throws
  {
    let folder = try StoreFolder()
    let file = try folder.file("m.json", members)
    let options = ["--entity", "E", "--records", "result", "--key-name", "name"]
    let outcome = await folder.importing([file, "--infer", "--unique", "name"] + options)
    #expect(outcome.status == .success, "\(outcome.messages)")
    #expect(try folder.report(outcome) == ImportCounts(records: 3, inserted: 3))
    #expect(await rows(folder, "name,n") == ["b,2", "a,1", "cA,3"])
    let again = await folder.importing([file] + options)
    #expect(try folder.report(again) == ImportCounts(records: 3, unchanged: 3))
    #expect(await folder.isSound())
  }

  @Test func `members with numeric keys become records, and a record's own member comes first`()
    async throws
  {
    let folder = try StoreFolder()
    let outcome = try await folder.load(
      #"{"7": {"n": 2}, "12": {"n": 1, "number": "13"}, "x": {"n": 1}, "5": 4}"#, "--entity", "E",
      "--key-name", "number", "--map", "number=k", "--type", "k=int", "--unique", "k", "--infer")
    #expect(try folder.report(outcome) == ImportCounts(records: 4, inserted: 2, rejected: 2))
    #expect(await rows(folder, "k,n") == ["7,2", "13,1"])
    #expect(await folder.isSound())
  }

  @Test func `an import reports records outside of arrays and members, with an option`()
    async throws
  {
    let folder = try StoreFolder()
    let file = try folder.file("m.json", members)
    let options = ["--entity", "E", "--infer", "--unique", "name", "--records", "result"]
    let array = await folder.importing([file] + options)
    #expect(array.status == .damagedData && array.messages.contains("--key-name"), "\(array)")
    let list = try folder.file("l.json", #"{"result": [{"name": "a"}]}"#)
    let object = await folder.importing([list, "--key-name", "name"] + options)
    #expect(object.status == .damagedData, "\(object)")
    #expect(object.messages.contains("has no object at 'result'; leave out --key-name"))
    let csv = await folder.importing([list, "--entity", "E", "--key-name", "name", "--csv"])
    #expect(csv.status == .usage && csv.messages.contains("--key-name"), "\(csv)")
  }

  @Test(arguments: [
    #"[{"k":1,"n":2}]"# + "\n" + #"[{"k":2,"n":3},{"k":3,"n":4}]"# + "\n[]\n" + #"{"k":4,"n":5}"#,
    #"["k","n"]"# + "\n[1,2]\n[2,3]\n[3,4]\n[4,5]\n",
  ])
  func `lines that are arrays hold records, or rows after a line of names`(
    text: String
  ) async throws {
    let folder = try StoreFolder()
    for name in ["m.jsonl", "m.json"] {
      let file = try folder.file(name, text)
      let outcome = await folder.importing(
        [file, "--entity", "E", "--infer", "--unique", "k"])
      #expect(outcome.status == .success, "\(outcome.messages)")
      #expect(try folder.report(outcome).records == 4)
      #expect(await rows(folder, "k,n") == ["1,2", "2,3", "3,4", "4,5"])
    }
    #expect(await folder.isSound())
  }

  @Test func `an array of rows follows its names; a row of another length is rejected`()
    async throws
  {
    let folder = try StoreFolder()
    let outcome = try await folder.load(
      #"[["k", "n"], [1, 2], [2], [3, null]]"#, "--entity", "E", "--infer", "--unique", "k")
    #expect(try folder.report(outcome) == ImportCounts(records: 3, inserted: 2, rejected: 1))
    #expect(outcome.messages.contains("the row has 1 values, the fields are 2"))
    let lines = try folder.file("m.jsonl", "[\"k\",\"n\"]\n[4]\n[5,6]\n")
    let second = await folder.importing([lines, "--entity", "E"])
    #expect(try folder.report(second) == ImportCounts(records: 2, inserted: 1, rejected: 1))
    #expect(await folder.isSound())
  }

  @Test func `records are matched by a path into a member, which becomes its own attribute`()
    async throws
  {
    let folder = try StoreFolder()
    let text = #"[{"properties": {"id": "a", "mag": 1.5}}, {"properties": {"id": "b", "mag": 2}}]"#
    let options = [
      "--entity", "E", "--unique", "properties.id", "--map", "properties.mag=mag",
    ]
    let file = try folder.file("m.json", text)
    let outcome = await folder.importing([file, "--infer"] + options)
    #expect(outcome.status == .success, "\(outcome.messages)")
    #expect(await rows(folder, "properties_id,mag") == ["a,1.5", "b,2.0"])
    let again = await folder.importing([file] + options)
    #expect(try folder.report(again) == ImportCounts(records: 2, unchanged: 2))
    #expect(await folder.isSound())
  }

  @Test func `a member that only a key's path names stays a whole attribute`()
    async throws
  {
    let folder = try StoreFolder()
    let text = #"[{"p": {"id": 1, "mag": 1.5}}, {"p": {"id": 2}}]"#
    for _ in 0..<2 {
      let outcome = try await folder.load(
        text, "--entity", "E", "--unique", "p.id", "--index", "p.mag", "--infer")
      #expect(try folder.report(outcome).rejected == 0, "\(outcome.messages)")
    }
    let records = await folder.run("records", "E", "--format", "jsonl").data
    #expect(
      records.contains(#""p":{"id":1,"mag":1.5}"#) && records.contains(#""p_id":1"#), "\(records)")
    #expect(await folder.isSound())
  }
}
