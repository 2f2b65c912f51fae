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
  func `a misspelled name has the meant name as its nearest`(_ name: String, _ meant: String) {
    #expect(NearestName.of(name, among: Self.known) == meant)
  }

  @Test(arguments: ["", "x", "ab", "na", "nine", "starship", "ob", "name_of_the_license"])
  func `an unrelated word has no nearest name`(_ name: String) {
    #expect(NearestName.of(name, among: Self.known) == nil)
  }

  @Test func `an empty list and endless names have no nearest name`() {
    #expect(NearestName.of("name", among: []) == nil)
    #expect(NearestName.of(String(repeating: "name", count: 100_000), among: Self.known) == nil)
  }

  @Test(arguments: [
    ("name+versoin", "name+version"), ("name", "name+version"), ("nmae", "name+version"),
    ("name+Version", "name+version"), ("start", "stars"), ("version", nil), ("", nil), ("+", nil),
  ])
  func `the nearest name of an index may match its first attributes only`(
    _ name: String, _ meant: String?
  ) {
    #expect(NearestName.of(name, among: ["license", "name+version", "stars"]) == meant)
  }

  @Test func `the first of equally near names is proposed`() {
    #expect(NearestName.of("cart", among: ["card", "care"]) == "card")
    #expect(NearestName.of("cart", among: ["care", "card"]) == "care")
  }
}
