import EntityStore
import Testing

@testable import KVDumpCommands

@Suite("Schema files")
struct SchemaFileTests {
  private static let good = #""attributes":[{"name":"k","type":"int64"}]"#

  private static let faults: [(String, String)] = [
    (#""attributes":"k""#, "E.attributes must be an array, found a string"),
    (#""attributes":[1]"#, "E.attributes[0] must be an object, found an integer"),
    (#""attributes":[{"name":"k"}]"#, "E.attributes[0] has no 'name' or no 'type'"),
    (
      #""attributes":[{"name":"k","type":"int"}]"#,
      "E.attributes[0] has the type 'int', which is not a type"
    ),
    (
      #""attributes":[{"name":"k","type":"int64","optional":"no"}]"#,
      "E.attributes[0].optional must be true or false, found a string"
    ),
    (
      #""attributes":[{"name":"k","type":"int64","optionl":true}]"#,
      "E.attributes[0] has the unknown member 'optionl'; did you mean 'optional'?"
    ),
    (
      #""attributes":[{"name":"k","type":"int64","source":7}]"#,
      "E.attributes[0].source must be a string, found an integer"
    ),
    (
      #""attributes":[{"name":"k","type":"int64","initial":"x"}]"#,
      "E.attributes[0].initial must be an integer that fits int64"
    ),
    (
      #""attributes":[{"name":"k","type":"string","maxLength":"9"}]"#,
      "E.attributes[0].maxLength must be an integer, found a string"
    ),
    (
      #""attributes":[{"name":"k","type":"string","pattern":[]}]"#,
      "E.attributes[0].pattern must be a string, found an array"
    ),
    (good + #","indexes":"a""#, "E.indexes must be an array, found a string"),
    (good + #","indexes":[{"attributes":"k"}]"#, "E.indexes[0].attributes must be an array"),
    (good + #","indexes":[{"attributes":[1]}]"#, "E.indexes[0].attributes[0] must be a string"),
    (good + #","indexes":[{}]"#, "E.indexes[0] has no 'attributes'"),
    (
      good + #","indexes":[{"attributes":["x"]}]"#,
      "E.indexes[0] names 'x', which is not an attribute"
    ),
    (
      good + #","indexes":[{"attributes":["k"],"unique":1}]"#,
      "E.indexes[0].unique must be true or false"
    ),
    (
      good + #","elementIndexes":[{"attribute":1}]"#,
      "E.elementIndexes[0].attribute must be a string"
    ),
    (good + #","rules":{"x":1}"#, "E.rules must be an array, found an object"),
    (good + #","rules":[{"name":"a"}]"#, "E.rules[0] has no 'name' or no 'condition'"),
    (good + #","history":true"#, "E.history must be an object, found a Boolean"),
    (good + #","history":{"images":"yes"}"#, "E.history.images must be true or false"),
    (good + #","history":{"preserved":["x"]}"#, "E.history names 'x', which is not an attribute"),
    (good + #","index":[]"#, "E has the unknown member 'index'; did you mean 'indexes'?"),
    (
      #""attributes":[{"name":"k","type":"int64","source":"x"},{"name":"l","type":"int64","source":"x"}]"#,
      "attributes 'k' and 'l' have the same member 'x'"
    ),
  ]

  @Test(arguments: faults)
  func `an unknown part of a schema is refused with its path`(
    members: String, message: String
  ) async throws {
    let folder = try StoreFolder()
    let schema = try folder.file("s.json", #"{"entity":"E",\#(members)}"#)
    let page = try folder.file("p.json", #"[{"k":1}]"#)
    let outcome = await folder.importing([
      page, "--entity", "E", "--insert-only", "--schema", schema,
    ])
    #expect(outcome.status != .success)
    #expect(outcome.messages.contains(message), "\(outcome.messages)")
    #expect(!FileFacts.exists(folder.store))
  }

  @Test func `null in a schema file is as absent, and undeclarable parts are reported`()
    async throws
  {
    let folder = try StoreFolder()
    let schema = try folder.file(
      "s.json",
      #"""
      [{"entity":"E","attributes":[
        {"name":"k","source":"the k","type":"int64","optional":null,"initial":null,"pattern":null},
        {"name":"n","type":"int64","optional":true,"derived":"count of kids"}],
        "indexes":null,"relationships":[{"name":"kids","target":"E"}],"rules":null,"history":null}]
      """#)
    let page = try folder.file("p.json", #"[{"the k":1}]"#)
    let outcome = await folder.importing([
      page, "--entity", "E", "--insert-only", "--schema", schema,
    ])
    #expect(outcome.status == .success, "\(outcome.messages)")
    #expect(
      outcome.messages.contains(
        "left out declarations that only a program can make: relationship 'kids', derivation of 'n'"
          + "; once the program has opened the store, import without --schema"))
    #expect(await folder.run("records", "E").data == #"{"_id":1,"k":1,"n":null}"# + "\n")
    #expect(await folder.isSound())
  }
}
