import EntityStore
import Testing

@Suite struct `Nearest name` {
  private static let known = [
    "name", "license", "deprecated", "stars", "id", "Pod", "pods", "Fireball", "updatedAt",
  ]

  @Test(arguments: [
    ("nmae", "name"), ("NAME", "name"), ("licence", "license"), ("depreciated", "deprecated"),
    ("star", "stars"), ("satrs", "stars"), ("ID", "id"),
    ("Pods", "pods"), ("Podd", "Pod"), ("Fierball", "Fireball"), ("updated_at", "updatedAt"),
  ])
  func `a slip is found out`(_ name: String, _ meant: String) {
    #expect(NearestName.of(name, among: Self.known) == meant)
  }

  @Test(arguments: ["", "x", "ab", "na", "nine", "starship", "ob", "name_of_the_license"])
  func `another word has none`(_ name: String) {
    #expect(NearestName.of(name, among: Self.known) == nil)
  }

  @Test func `without candidates, and for endless names, there is none`() {
    #expect(NearestName.of("name", among: []) == nil)
    #expect(NearestName.of(String(repeating: "name", count: 100_000), among: Self.known) == nil)
  }

  @Test(arguments: [
    ("name+versoin", "name+version"), ("name", "name+version"), ("nmae", "name+version"),
    ("name+Version", "name+version"), ("start", "stars"), ("version", nil), ("", nil), ("+", nil),
  ])
  func `of an index may be that of its first attributes`(_ name: String, _ meant: String?) {
    #expect(NearestName.of(name, among: ["license", "name+version", "stars"]) == meant)
  }

  @Test func `of equally near names the first is proposed`() {
    #expect(NearestName.of("cart", among: ["card", "care"]) == "card")
    #expect(NearestName.of("cart", among: ["care", "card"]) == "care")
  }
}
