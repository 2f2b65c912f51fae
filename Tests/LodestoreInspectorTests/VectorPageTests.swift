import EntityStore
import LodestoreJSON
import Testing

@testable import LodestoreInspector

@Suite("Pages of vectors")
struct VectorPageTests {
  private let index = "/Sight/-/index/vector(look)"

  private func looks() async throws -> Library {
    try await .withSights([
      Sight("east", look: [1, 0]), Sight("north", look: [0, 1], group: 1),
      Sight("northeast", look: [1, 1], group: 1), Sight("none", look: nil),
      Sight("west", look: [-1, 0]), Sight("zero", look: [0, 0]),
    ])
  }

  private func names(_ json: JSONNode?) -> [String] {
    json?.elements.compactMap { $0["name"]?.string } ?? []
  }

  @Test func `the page of a vector index has facts, and records similar to one`() async throws {
    let library = try await looks()
    let page = try library.json(index + ".json")
    #expect(page["index"]?["vectors"]?.int64 == 5)
    #expect(page["index"]?["dimensions"]?.int64 == 2)
    #expect(page["index"]?["attribute"]?.string == "look")
    #expect(page["index"]?["measures"]?.string == "cosine, dotProduct, euclidean")
    let similar = try library.json(index + ".json?_similar=1")
    #expect(names(similar["rows"]) == ["northeast", "north", "west"])
    let distances = similar["rows"]?.elements.compactMap { $0["_distance"]?.double } ?? []
    #expect(distances == [0.292893, 1, 2])
    #expect(similar["next"]?.isNull == true)
    #expect(
      names(try library.json("/Sight.json?_similar=1&group=1&_limit=1")["rows"]) == ["northeast"])
    #expect(try library.get(index).contains("name=\"_similar\""))
    #expect(try library.get("/Sight?_similar=1").contains("The most similar of 6 records."))
    #expect(try library.get("/Sight?_similar=4", 404).contains("has no vector"))
    #expect(try library.get("/Sight?_similar=44", 404).contains("no record 44"))
    #expect(try library.get("/Sight?_similar=6", 400).contains("no angle"))
    #expect(try library.get("/Book?_similar=1", 404).contains("no vector index"))
    await library.verify()
  }

  @Test func `a record shows similar ones, and its vector as numbers`() async throws {
    let library = try await looks()
    let record = try library.json("/Sight/3.json")
    #expect(names(record["similar"]) == ["east", "north", "west"])
    #expect(try library.json("/Sight/4.json")["similar"] == nil)
    #expect(try library.json("/Sight/6.json")["similar"] == nil)
    let page = try library.get("/Sight/5")
    #expect(page.contains("<summary>2 numbers</summary><code class=\"numbers\">-1.0, 0.0</code>"))
    #expect(page.contains("href=\"\(index)?_similar=5\""))
    #expect(try library.get("/Sight").contains("-1.0, 0.0 (2)"))
    #expect(try library.get("/Sight").contains("<small>vector(2)?</small>"))
    // Programs get the bytes, as kvdump writes them.
    #expect(record["record"]?["look"]?.string == "AACAPwAAgD8=")
  }

  @Test func `a change of the selected records reaches those near a place alone`() async throws {
    let library = try await Library.withSights([
      Sight("near", 1, 2), Sight("far", 50, 60), Sight("nowhere", look: [1, 0]),
    ])
    let responder = Responder(
      maker: PageMaker(store: DynamicStore(library.store), path: "x"), allowsWrites: true)
    func text(_ address: String, _ body: String? = nil) throws -> String {
      var request = Request(address, method: "POST")
      request.contentType = "application/json"
      request.body = Array((body ?? "").utf8)
      let parsed = try #require(Address(address))
      let answer = responder.respond(to: parsed, body == nil ? nil : request)
      return String(decoding: answer.body.bytes, as: UTF8.self)
    }
    // Pages of only the first records offer no change of all.
    for query in ["_similar=3", "_near=1,2"] {
      #expect(!(try text("/Sight?\(query)")).contains("/-/delete"), "\(query)")
    }
    #expect(try text("/Sight?_near=1,2,3km").contains("/Sight/-/delete?_near=1,2,3km"))
    let asked = try text("/Sight/-/delete.json?_near=1,2,3km", "{}")
    #expect(asked.contains("1 record of Sight would be deleted"), "\(asked)")
    let question = try JSONDocument.parsing(asked.utf8).root
    let token = try #require(question["answer"]?["token"]?.string)
    #expect(try text("/-/change.json", "{\"token\":\"\(token)\"}").contains("Done:"))
    #expect(names(try library.json("/Sight.json")["rows"]) == ["far", "nowhere"])
    await library.verify()
  }

  @Test func `the tool for similar records answers as the page does`() async throws {
    let dialogue = Dialogue(library: try await looks())
    let found = try await dialogue.call(
      "similar", #"{"entity":"Sight","id":1,"columns":["name"],"limit":2}"#)
    #expect(names(found["rows"]) == ["northeast", "north"])
    #expect(found["rows"]?[0]?["_distance"]?.double == 0.292893)
  }
}
