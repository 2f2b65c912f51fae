import EntityStore
import LMDB
import LodestoreFormat
import Testing

@testable import KVDumpCommands
@testable import LodestoreVerifier

@Suite("Names of members that are stored with attributes")
struct MemberNameTests {
  private static let options = ["--entity", "E", "--unique", "id"]

  private func schema(_ folder: StoreFolder) async throws -> [String: String] {
    let outcome = await folder.run("schema", "E", "--format", "json")
    let entity = try JSONValue(parsing: outcome.data)
    let attributes = (entity.arrayValue?.first ?? entity)["attributes"]?.arrayValue ?? []
    var members: [String: String] = [:]
    for attribute in attributes {
      let name = try #require(attribute["name"]?.stringValue)
      members[name] = attribute["source"]?.stringValue ?? name
    }
    return members
  }

  private func rows(_ folder: StoreFolder) async -> [String] {
    await folder.run("records", "E").data.split(separator: "\n").map(String.init)
  }

  @Test func `two columns never share one attribute, in one import or in two`() async throws {
    let folder = try StoreFolder()
    try await folder.load(
      "id,C#\n1,sharp\n", "--entity", "E", "--unique", "id", "--infer", name: "a.csv")
    #expect(try await schema(folder) == ["id": "id", "C_number": "C#"])
    // Without --infer, the column "C+" has no attribute, and a strict import ends with an error.
    let file = try folder.file("b.csv", "id,C+\n2,plus\n")
    let plain = await folder.importing(
      [file, "--on-conflict", "patch", "--format", "json"] + Self.options)
    #expect(try JSONValue(parsing: plain.data)[path: "unknownMembers.C+"]?.intValue == 1)
    #expect(
      plain.messages.contains("left out members without an attribute: C+; --infer adds them"))
    let strict = await folder.importing([file, "--strict"] + Self.options)
    #expect(strict.status == .negative)
    #expect(strict.messages.contains("'C+' is no attribute of E"))
    let inferred = await folder.importing([file, "--infer"] + Self.options)
    #expect(inferred.status == .success)
    #expect(try await schema(folder) == ["id": "id", "C_number": "C#", "C_plus": "C+"])
    try await folder.load("id,C+,C#\n3,p,s\n", "--entity", "E", name: "c.csv")
    #expect(await rows(folder).last?.hasSuffix(#""id":3,"C_number":"s","C_plus":"p"}"#) == true)
    #expect(await folder.isSound())
  }

  @Test func `a member with the name of an attribute made for another one is reported`()
    async throws
  {
    let folder = try StoreFolder()
    try await folder.load(
      "id,C#\n1,sharp\n", "--entity", "E", "--unique", "id", "--infer", name: "a.csv")
    let outcome = try await folder.load(
      "id,C_number\n2,n\n", "--entity", "E", "--infer", name: "b.csv")
    #expect(
      outcome.messages.contains(
        "E: member 'C_number' fills the attribute of that name, which was made for member 'C#'; "
          + "--map C_number=NAME imports it into another"), "\(outcome.messages)")
    // Without --infer, the import reports the warning once for each file.
    let plain = try await folder.load(
      "id,C_number\n4,n\n5,n\n", "--entity", "E", name: "d.csv")
    let warning =
      "member 'C_number' fills the attribute of that name, which was made for member 'C#'; map it "
      + "to another attribute unless both are one"
    #expect(plain.messages.split(separator: warning, omittingEmptySubsequences: false).count == 2)
    // There is no warning if the records also have the member with the attribute's own name, which
    // fills it.
    let both = try await folder.load(
      "id,C_number,C#\n6,n,s\n", "--entity", "E", name: "e.csv")
    #expect(!both.messages.contains("fills the attribute"), "\(both.messages)")
    let mapped = try await folder.load(
      "id,C_number\n3,n\n", "--entity", "E", "--infer", "--map", "C_number=count", name: "c.csv")
    #expect(!mapped.messages.contains("fills the attribute"), "\(mapped.messages)")
    #expect(
      try await schema(folder) == ["id": "id", "C_number": "C#", "count": "C_number"])
    #expect(await folder.isSound())
  }

  @Test func `similar names are matched to the same attributes in a later import`() async throws {
    let folder = try StoreFolder()
    let long = String(repeating: "y", count: 64)
    let members = ["имя", "год", "price $", "price €", "a-b", "a b", long + "1", long + "2", "名"]
    let record = members.enumerated().map { #","\#($1)":\#($0)"# }.joined()
    let text = #"[{"id":1\#(record)}]"#
    try await folder.load(text, "--entity", "E", "--unique", "id", "--infer")
    let first = try await schema(folder)
    #expect(first.count == members.count + 1 && Set(first.values) == Set(members + ["id"]))
    for options in [[], ["--infer"], ["--strict"]] {
      let file = try folder.file("again.json", text)
      let again = await folder.importing([file] + Self.options + options)
      #expect(try folder.report(again) == ImportCounts(records: 1, unchanged: 1), "\(options)")
    }
    #expect(try await schema(folder) == first)
    #expect(first["imya"] == "имя" && first["god"] == "год" && first["price_euro"] == "price €")
    #expect(await folder.isSound())
  }

  @Test func `a member is named by the source of an attribute, and then by its name`() async throws
  {
    let folder = try StoreFolder()
    try await folder.load(
      #"[{"id":1,"a-b":"x"}]"#, "--entity", "E", "--unique", "id", "--infer")
    // A member with the attribute's own name fills the attribute if the record lacks the source
    // member.
    try await folder.load(#"[{"id":2,"a_b":"y"}]"#, "--entity", "E")
    #expect(await rows(folder).last == #"{"_id":2,"id":2,"a_b":"y"}"#)
    // If a record has both members, the source name fills the attribute. The other member is left
    // out, whatever the order.
    let both = try await folder.load(
      #"[{"id":3,"a_b":"z","a-b":"x"},{"id":4,"a-b":"x","a_b":"z"}]"#, "--entity", "E", "--format",
      "json")
    #expect(try JSONValue(parsing: both.data)[path: "unknownMembers.a_b"]?.intValue == 2)
    #expect(await rows(folder).suffix(2).allSatisfy { $0.contains(#""a_b":"x""#) })
    let strict = await folder.importing(
      [try folder.file("s.json", #"[{"id":5,"a_b":"z","a-b":"x"}]"#), "--strict"] + Self.options)
    #expect(strict.status == .negative)
    // With --infer, the member becomes a separate attribute, which later imports use.
    try await folder.load(#"[{"id":6,"a_b":"z","a-b":"x"}]"#, "--entity", "E", "--infer")
    #expect(try await schema(folder) == ["id": "id", "a_b": "a-b", "a_b_2": "a_b"])
    try await folder.load(#"[{"id":7,"a_b":"q"}]"#, "--entity", "E", "--infer")
    #expect(await rows(folder).last?.hasSuffix(#""id":7,"a_b":null,"a_b_2":"q"}"#) == true)
    #expect(await folder.isSound())
  }

  @Test func `an attribute of an earlier version takes no other member without a report`()
    async throws
  {
    let folder = try StoreFolder()
    try await folder.load(#"[{"id":1,"a_b":"old"}]"#, "--entity", "E", "--unique", "id", "--infer")
    let hint =
      "'a_b' keeps no name of a member; if it was made from 'a-b', --infer --map 'a-b=a_b' goes on"
    let plain = try await folder.load(
      #"[{"id":2,"a_b":"x","a-b":"new"}]"#, "--entity", "E")
    #expect(plain.messages.contains("left out members without an attribute: a-b"))
    #expect(plain.messages.contains(hint))
    let other = try StoreFolder()
    try await other.load(#"[{"id":1,"a_b":"old"}]"#, "--entity", "E", "--unique", "id", "--infer")
    let inferred = try await other.load(#"[{"id":2,"a-b":"new"}]"#, "--entity", "E", "--infer")
    #expect(inferred.messages.contains(hint))
    #expect(try await schema(other) == ["id": "id", "a_b": "a_b", "a_b_2": "a-b"])
    // The option --map assigns the member to another attribute, once and for later imports too.
    let mapped = try await folder.load(
      #"[{"id":1,"a-b":"new"}]"#, "--entity", "E", "--infer", "--map", "a-b=a_b")
    #expect(mapped.messages.contains("E: attribute 'a_b' is filled from member 'a-b' from now on"))
    try await folder.load(#"[{"id":1,"a-b":"newer"}]"#, "--entity", "E")
    #expect(
      await folder.run("get", "E", "id=1", "--fields", "a_b").data == #"{"a_b":"newer"}"# + "\n")
    #expect(await folder.isSound())
  }

  @Test func `the name of --map is stored with the attribute that it makes, but a path is not`()
    async throws
  {
    let folder = try StoreFolder()
    try await folder.load(
      #"[{"_id":"m1","The Title":"x","geo":{"lat":1}}]"#, "--entity", "E", "--infer", "--map",
      "_id=id", "--map", "The Title=title", "--map", "geo.lat=lat", "--unique", "id")
    #expect(try await schema(folder) == ["id": "_id", "title": "The Title", "lat": "lat"])
    let again = try await folder.load(
      #"[{"_id":"m1","The Title":"y","lat":2}]"#, "--entity", "E")
    #expect(again.data.contains(#""updated":1"#))
    #expect(await rows(folder) == [#"{"_id":1,"id":"m1","title":"y","lat":2}"#])
    #expect(await folder.isSound())
  }

  @Test func `options name an attribute by its member too`() async throws {
    let folder = try StoreFolder()
    let outcome = try await folder.load(
      "the key,at time\n1,05.01.2024\n", "--entity", "E", "--infer", "--unique", "the key",
      "--index",
      "at time", "--type", "at time=date:dd.MM.yyyy", name: "a.csv")
    #expect(outcome.messages.contains("E: attribute 'at_time', date"))
    let again = try await folder.load(
      "the key,at time\n1,05.01.2024\n", "--entity", "E", "--unique", "the key", "--type",
      "at time=date:dd.MM.yyyy", name: "a.csv")
    #expect(again.data.contains(#""unchanged":1"#))
    #expect(await folder.isSound())
  }

  @Test(arguments: ["jsonl", "csv"])
  func `an export by names of members makes the same store elsewhere`(format: String) async throws {
    let folder = try StoreFolder()
    try await folder.load(
      #"[{"id":1,"C#":"s","имя":"Анна"},{"id":2,"C#":"t","имя":"Ира"}]"#, "--entity", "E",
      "--unique", "id", "--infer")
    let file = "\(folder.path)/e.\(format)"
    #expect(await folder.run("export", "E", file, "--source-names").status == .success)
    let other = try StoreFolder()
    let outcome = await other.importing([file, "--infer"] + Self.options)
    #expect(outcome.status == .success, "\(outcome.messages)")
    #expect(try await schema(other) == schema(folder))
    #expect(await rows(other) == rows(folder))
    // The file has the attributes' names and the same schema.
    let plain = "\(folder.path)/plain.\(format)"
    #expect(await folder.run("export", "E", plain).status == .success)
    let schemaFile = try folder.file(
      "s.json", await folder.run("schema", "E", "--format", "json").data)
    let third = try StoreFolder()
    let taken = await third.importing([plain, "--schema", schemaFile] + Self.options)
    #expect(taken.status == .success, "\(taken.messages)")
    #expect(try await schema(third) == schema(folder))
    #expect(await rows(third) == rows(folder))
    let back = await third.importing([file] + Self.options)
    #expect(try third.report(back) == ImportCounts(records: 2, unchanged: 2))
  }

  @Test func `an export warns if its names make other attributes elsewhere, with the remedies`()
    async throws
  {
    let folder = try StoreFolder()
    try await folder.load(
      #"[{"id":1,"C#":1}]"#, "--entity", "E", "--unique", "id", "--infer")
    try await folder.load(#"[{"id":2,"C_number":7,"C#":5}]"#, "--entity", "E", "--infer")
    #expect(
      try await schema(folder) == ["id": "id", "C_number": "C#", "C_number_2": "C_number"])
    let schemaFile = try folder.file(
      "s.json", await folder.run("schema", "E", "--format", "json").data)
    let note =
      "E: an import takes 'C_number' into 'C_number_2', whose member has that name; export with "
      + "--source-names, or import with --map C_number=C_number"
    for bySources in [false, true] {
      let outcome =
        bySources
        ? await folder.run("export", "E", "--source-names") : await folder.run("export", "E")
      #expect(outcome.messages.contains(note) == !bySources, "\(outcome.messages)")
      let map = bySources ? [] : ["--map", "C_number=C_number"]
      let other = try StoreFolder()
      let file = try other.file("e.jsonl", outcome.data)
      let taken = await other.importing([file, "--schema", schemaFile] + Self.options + map)
      #expect(taken.status == .success, "\(taken.messages)")
      #expect(await rows(other) == rows(folder))
      #expect(await other.isSound())
    }
    let chosen = await folder.run("export", "E", "--fields", "id,C_number_2")
    #expect(!chosen.messages.contains("an import takes"), "\(chosen.messages)")
  }

  @Test func `an export names the columns that would share a name`() async throws {
    let folder = try StoreFolder()
    try await folder.load(#"[{"id":1,"y":1}]"#, "--entity", "E", "--unique", "id", "--infer")
    try await folder.load(
      #"[{"id":1,"y":1,"x":2}]"#, "--entity", "E", "--infer", "--map", "y=z", "--map", "x=w")
    let outcome = await folder.run("export", "E", "--source-names")
    #expect(outcome.status == .usage)
    #expect(outcome.messages.contains("'y' and 'z' would both be named 'y'"), "\(outcome.messages)")
    let chosen = await folder.run("export", "E", "--source-names", "--fields", "id,z,w")
    #expect(chosen.data == #"{"id":1,"y":1,"x":2}"# + "\n")
  }

  @Test func `copies, compacted and salvaged stores, and files of every reader keep the names`()
    async throws
  {
    let folder = try StoreFolder()
    try await folder.load(
      #"[{"id":1,"C#":"s"}]"#, "--entity", "E", "--unique", "id", "--infer")
    let expected = await folder.run("schema", "E", "--format", "json").data
    #expect(expected.contains(#""source":"C#""#))
    for command in ["compact", "salvage"] {
      let copy = "\(folder.path)/\(command).lodestore"
      #expect(await folder.run(command, copy).status == .success)
      let memory = MemoryConsole()
      _ = await KVDump.execute(["schema", copy, "E", "--format", "json"], on: memory.console)
      #expect(memory.data.text == expected, "\(command)")
      #expect(try Verifier.verify(path: copy).findings == [])
    }
    let table = await folder.run("schema", "E", width: 200).data
    #expect(table.contains("MEMBER") && table.contains("C#"), "\(table)")
  }

  @Test func `a member's name in a query proposes its attribute`() async throws {
    let folder = try StoreFolder()
    try await folder.load(
      #"[{"id":1,"имя":"Анна"}]"#, "--entity", "E", "--unique", "id", "--infer")
    let wrong = [
      await folder.run("query", "E", "имя == 'Анна'"),
      await folder.run("records", "E", "--fields", "имя"),
      await folder.run("get", "E", "имя=Анна"),
    ]
    for outcome in wrong where outcome.status != .success {
      #expect(outcome.messages.contains("did you mean"), "\(outcome.messages)")
      #expect(outcome.messages.contains("imya"), "\(outcome.messages)")
    }
    #expect(wrong.allSatisfy { $0.status == .usage }, "\(wrong)")
  }

  @Test func `a member whose name is too long to store is omitted and reported`() async throws {
    let folder = try StoreFolder()
    let name = String(repeating: "n", count: 1_025)
    let outcome = try await folder.load(
      #"[{"id":1,"\#(name)":1,"\#(name.dropLast())":2}]"#, "--entity", "E", "--unique", "id",
      "--infer")
    #expect(
      outcome.messages.contains("left out a member whose name has 1025 bytes; the limit is 1,024"))
    #expect(try await schema(folder).values.contains(String(name.dropLast())))
    #expect(await folder.isSound())
  }

  @Test func `a column with dots in its name is a column`() async throws {
    let folder = try StoreFolder()
    let text = "geo.id,geo.lat\n1,2.5\n"
    try await folder.load(text, "--entity", "E", "--insert-only", "--infer", name: "a.csv")
    #expect(try await schema(folder) == ["geo_id": "geo.id", "geo_lat": "geo.lat"])
    try await folder.load(text, "--entity", "E", "--insert-only", name: "a.csv")
    let other = try StoreFolder()
    try await other.load(text, "--entity", "E", "--unique", "geo.id", "--infer", name: "a.csv")
    #expect(try await schema(other) == ["geo_id": "geo.id", "geo_lat": "geo.lat"])
    let again = try await other.load(text, "--entity", "E", "--unique", "geo.id", name: "a.csv")
    #expect(again.data.contains(#""unchanged":1"#))
    #expect(await other.isSound())
    let found = await rows(folder)
    #expect(found.count == 2 && found.allSatisfy { $0.hasSuffix(#","geo_id":1,"geo_lat":2.5}"#) })
  }
}
