import Testing

@testable import KVDumpCommands

@Suite("kvdump generate")
struct GenerateTests {
  @Test func `an imported store becomes an entity with names that Swift accepts`() async throws {
    let folder = try StoreFolder()
    try await folder.load(
      #"[{"id":"a","class":1,"price €":1.5,"schema":"x","on":true,"more":{"a":[1]}}]"#,
      "--entity", "quake", "--infer", "--unique", "id", "--index", "class")
    let generated = await folder.run("generate")
    #expect(generated.status == .success)
    #expect(
      generated.messages == """
        quake.id is the property 'identifier'
        quake.price_euro is imported from the member "price €" by the file only
        quake.schema is the property 'schema_'
        quake is the struct 'Quake'

        """)
    #expect(
      generated.data == """
        // The entities of a.lodestore, by 'kvdump generate'.
        //
        //     try Store(at: path, entities: [Quake.self])
        //
        // - quake.id is the property 'identifier'.
        // - quake.price_euro is imported from the member "price €" by the file only.
        // - quake.schema is the property 'schema_'.
        // - quake is the struct 'Quake'.

        import Foundation
        import Lodestore

        @Entity(name: "quake")
        struct Quake {
          #Unique<Quake>([\\.identifier])
          #Index<Quake>([\\.`class`])

          @Attribute(name: "id") var identifier: String
          var `class`: Int
          /// Imports set it from the member "price €".
          var price_euro: Double
          @Attribute(name: "schema") var schema_: String
          var on: Bool
          var more: JSONValue
        }

        """)
    #expect(await folder.run("generate", "-q").messages.isEmpty)
  }

  @Test func `structs have names of their own`() {
    var taken: Set<String> = []
    let names = ["pod", "Pod", "String", "Type", "_", "StringEntity"].map { name in
      let type = SwiftNames.type(name, taken: taken)
      taken.insert(type)
      return type
    }
    #expect(names == ["Pod", "Pod2", "StringEntity", "TypeEntity", "Entity_", "StringEntity2"])
    #expect(SwiftNames.property("id", taken: ["id", "identifier"]) == "identifier2")
    #expect(SwiftNames.escaped("default") == "`default`")
  }

  @Test(arguments: [
    ("a\"b\\c", #""a\"b\\c""#), ("é 名 \u{202E}\n", #""é 名 \u{202e}\n""#),
    ("e\u{301}", #""e\u{301}""#), ("\\(x)", #""\\(x)""#),
  ])
  func `texts become literals`(text: String, literal: String) {
    #expect(SwiftLiteral.text(text) == literal)
  }
}
