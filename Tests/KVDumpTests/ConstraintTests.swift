import LodestoreFormat
import Testing

@testable import KVDumpCommands

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite("Constraints")
struct ConstraintTests {
  private static let schema = """
    {"entity":"Film","attributes":[
      {"name":"episode","type":"int64","minimum":1},
      {"name":"title","type":"string","minLength":1,"maxLength":10,"pattern":"[A-Za-z ]+"},
      {"name":"rating","type":"decimal","optional":true,"minimum":0.5,"maximum":10},
      {"name":"released","type":"date","optional":true,"maximum":"2030-01-01T00:00:00Z"},
      {"name":"score","type":"double","optional":true,"minimum":-1.5,"maximum":"Infinity"},
      {"name":"note","type":"string","optional":true}
    ],"indexes":[{"attributes":["episode"],"unique":true}]}
    """

  private func filmStore() async throws -> StoreFolder {
    let folder = try StoreFolder()
    let file = try folder.file("schema.json", Self.schema)
    try await folder.load(
      #"[{"episode":1,"title":"Hope","rating":10,"released":"2030-01-01T00:00:00Z","score":1e300}]"#,
      "--entity", "Film", "--schema", file)
    return folder
  }

  @Test func `schema shows constraints, and import reads that output`() async throws {
    let folder = try await filmStore()
    #expect(
      await folder.run("schema", "Film", "--format", "csv").data
        == """
        entity,number,attribute,type,optional,shape,initial,constraints,indexes,source\r
        Film,1,episode,int64,false,,,1...,episode (unique),\r
        Film,2,title,string,false,,,"length 1...10, pattern [A-Za-z ]+",,\r
        Film,3,rating,decimal,true,,,0.5...10,,\r
        Film,4,released,date,true,,,...2030-01-01T00:00:00Z,,\r
        Film,5,score,double,true,,,-1.5...inf,,\r
        Film,6,note,string,true,,,,,\r

        """)
    let schema = await folder.run("schema", "--format", "json").data
    #expect(schema.contains(#""minLength":1,"maxLength":10,"pattern":"[A-Za-z ]+""#))
    #expect(schema.contains(#""minimum":0.5,"maximum":10"#))
    let other = try StoreFolder()
    let file = try other.file("schema.json", schema)
    try await other.load(
      #"{"episode":2,"title":"x"}"#, "--entity", "Film", "--schema", file)
    #expect(await other.run("schema", "--format", "json").data == schema)
    #expect(await other.isSound())
  }

  @Test func `initial values that JSON lacks come back unchanged from a schema file`()
    async throws
  {
    let infinity = Document.date(.infinity).encoded()
    let dates = Document.array([.date(0.5), .decimal(.nan)]).encoded()
    let schema = """
      {"entity":"E","attributes":[
        {"name":"k","type":"int64"},
        {"name":"w","type":"date","initial":{"$document":"\(Data(infinity).base64EncodedString())"}},
        {"name":"d","type":"document","initial":{"$document":"\(Data(dates).base64EncodedString())"}}
      ],"indexes":[{"attributes":["k"],"unique":true}]}
      """
    let folder = try StoreFolder()
    let file = try folder.file("schema.json", schema)
    try await folder.load(#"{"k":1}"#, "--entity", "E", "--schema", file)
    let shown = await folder.run("schema", "--format", "json").data
    #expect(shown.contains(Data(infinity).base64EncodedString()))
    let other = try StoreFolder()
    let copy = try other.file("schema.json", shown)
    try await other.load(#"{"k":2}"#, "--entity", "E", "--schema", copy)
    #expect(await other.run("schema", "--format", "json").data == shown)
    #expect(await other.isSound())
  }

  @Test func `constraints of the store reject records of an import whose schema omits them`()
    async throws
  {
    let folder = try await filmStore()
    let outcome = try await folder.load(
      #"""
      [{"episode":2,"title":"Empire"},{"episode":0,"title":"Zero"},{"episode":1,"title":""},
      {"episode":3,"title":"Jedi","rating":0.49,"more":1}]
      """#, "--entity", "Film", "--infer")
    #expect(outcome.data.contains(#""inserted":1,"updated":0,"#))
    #expect(outcome.data.contains(#""rejected":3"#))
    for (record, attribute, rule) in [
      (2, "episode", "cannot store Film: 'episode' must be at least 1"),
      (3, "title", "cannot update Film 1: 'title' must have at least 1 Unicode scalar"),
      (4, "rating", "cannot store Film: 'rating' must be at least 0.5"),
    ] {
      #expect(
        outcome.data.contains(#""record":\#(record),"#) && outcome.data.contains(rule)
          && outcome.data.contains(#""attribute":"\#(attribute)""#), "\(outcome.data)")
    }
    // The import added the inferred attribute and kept the constraints.
    let schema = await folder.run("schema", "Film", "--format", "csv").data
    #expect(schema.contains("Film,7,more,") && schema.contains("length 1...10, pattern"))
    let records = await folder.run("records", "Film").data
    #expect(records.split(separator: "\n").count == 2 && records.contains(#""title":"Empire""#))
    #expect(await folder.isSound())
  }

  @Test(arguments: [
    (#""type":"int8","minimum":1.5"#, "E.attributes[0].minimum must be an integer that fits int8"),
    (#""type":"string","maxLength":"x""#, "E.attributes[0].maxLength must be an integer"),
    (#""type":"string","pattern":7"#, "E.attributes[0].pattern must be a string"),
    (#""type":"string","pattern":"(""#, "'a' has a pattern that cannot be used"),
    (#""type":"int64","minimum":2,"maximum":1"#, "'a' has a minimum above its maximum"),
    (#""type":"json","minLength":1"#, "'a' has a limit of length, which json has not"),
  ])
  func `contradictory constraints of a schema file are refused`(members: String, reason: String)
    async throws
  {
    let folder = try StoreFolder()
    let schema = try folder.file(
      "schema.json", #"{"entity":"E","attributes":[{"name":"a","optional":true,\#(members)}]}"#)
    let page = try folder.file("page.json", "[]")
    let outcome = await folder.run("import", page, "--entity", "E", "--schema", schema)
    #expect(outcome.status != .success && outcome.messages.contains(reason), "\(outcome.messages)")
  }
}
