import EntityStore
import LodestoreRows
import Testing

@testable import LodestoreInspector

@Suite("Addresses")
struct AddressTests {
  private static let pieces = [
    "a", "Z", "0", "é", "日本", "/", "?", "&", "=", "+", "%", "#", " ", ".", "..", "\"", "'", "\\",
    "\u{0}", "\u{202E}", ".json", "_where", "-", ",", ";", "👩‍👧", "%41",
  ]

  private func text(_ random: inout SeededRandom, atLeast least: Int = 0) -> String {
    (0..<Int.random(in: least...5, using: &random))
      .map { _ in Self.pieces.randomElement(using: &random) ?? "a" }.joined()
  }

  private func place(_ random: inout SeededRandom) -> Coordinate {
    Coordinate(
      latitude: .random(in: -90...90, using: &random),
      longitude: [180, -180, 7, .random(in: -180...180, using: &random)]
        .randomElement(using: &random) ?? 0)
  }

  private func selection(_ random: inout SeededRandom) -> Selection {
    var selection = Selection()
    func texts(_ random: inout SeededRandom) -> [String] {
      (0..<Int.random(in: 0...2, using: &random)).map { _ in text(&random, atLeast: 1) }
    }
    selection.matches = texts(&random).map {
      Selection.Match(path: "m" + $0, text: text(&random))
    }
    if Bool.random(using: &random) { selection.condition = text(&random, atLeast: 1) }
    if Bool.random(using: &random) {
      selection.near = NearPlace(
        place(&random),
        meters: [nil, 0, 1_500, .random(in: 0...1e8, using: &random)]
          .randomElement(using: &random) ?? nil)
      let (south, north) = (place(&random), place(&random))
      selection.box = BoundingBox(
        south: min(south.latitude, north.latitude), west: south.longitude,
        north: max(south.latitude, north.latitude), east: north.longitude)
      selection.similar = .random(in: 0...(.max), using: &random)
      selection.indexes = texts(&random)
    }
    selection.order = texts(&random)
    selection.columns = texts(&random)
    selection.facets = texts(&random)
    if Bool.random(using: &random) { selection.after = text(&random, atLeast: 1) }
    selection.wait = [nil, 2, 10].randomElement(using: &random) ?? nil
    selection.size =
      [nil, .all, .count(Int.random(in: 1...9_999, using: &random))]
      .randomElement(using: &random) ?? nil
    return selection
  }

  private func route(_ random: inout SeededRandom) -> Route {
    let entity = "E" + text(&random)
    let id = UInt64.random(in: 0...(.max), using: &random)
    return switch Int.random(in: 0..<17, using: &random) {
    case 0: .store
    case 1: .entity(entity, selection(&random))
    case 2: .plan(entity, selection(&random))
    case 3: .record(entity, id)
    case 4: .related(entity, id, "r" + text(&random), selection(&random))
    case 5: .index(entity, "i" + text(&random), selection(&random))
    case 6: .history(before: Bool.random(using: &random) ? id : nil)
    case 7: .write(id, from: Int.random(in: 0...9, using: &random))
    case 10: .schema(entity)
    case 9: .change(id, entity, UInt64.random(in: 0...9, using: &random))
    case 8: .imports(Bool.random(using: &random) ? text(&random) : nil)
    case 11: .model
    case 12: .live
    case 13: .script
    case 15: .edit(.links(entity, id, "r" + text(&random)))
    case 14:
      .importRun(
        text(&random), id, HistoryChange.Kind.allCases.randomElement(using: &random),
        from: Int.random(in: 0...9, using: &random))
    default: .styleSheet
    }
  }

  @Test(arguments: 1...20)
  func `an address leads to the route that it was made of`(seed: UInt64) throws {
    var random = SeededRandom(state: seed)
    for _ in 0..<200 {
      let route = route(&random)
      let forms: [Form] = if case .edit = route { [.html, .json] } else { Form.allCases }
      let form = route.isFile ? .html : forms.randomElement(using: &random) ?? .html
      let target = Target(route, form)
      let text = target.address.text
      #expect(text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "\(text)")
      // A name that ends like a form reads as that form.
      let last = route.address.path.last ?? ""
      guard !Form.allCases.contains(where: { form == .html && last.hasSuffix(".\($0.rawValue)") })
      else { continue }
      #expect(try Target(parsing: text) == target, "seed \(seed): \(text)")
    }
  }

  @Test(arguments: [
    "", "Pod", "http://elsewhere/", "//elsewhere", "/Pod/", "/Pod//7", "/%", "/%4", "/%zz", "/%FF",
    "/%C0%80", "/?a=%", "/?%FF=1", "/?a=%ED%A0%80",
  ])
  func `a malformed address is refused`(text: String) {
    #expect(throws: AddressError.malformed) { try Target(parsing: text) }
  }

  @Test func `an address has a limited length`() {
    let long = "/" + String(repeating: "a", count: Address.longest)
    #expect(throws: AddressError.malformed) { try Target(parsing: long) }
  }

  @Test(arguments: [
    "/-", "/-/", "/-/../etc/passwd", "/-/history/x", "/-/history/-1", "/Pod/07", "/Pod/x",
    "/Pod/7/a/b", "/Pod/-/plans", "/-/style.css.json", "/-/live.csv", "/-/model/x",
    "/-/page.js/x", "/-/other", "/Pod/18446744073709551616",
  ])
  func `an address without a page is refused`(text: String) {
    #expect(throws: AddressError.self) { try Target(parsing: text) }
  }

  @Test(arguments: ["/Pod?_wher=1", "/?a=1", "/Pod/7?x=1", "/Pod?=1", "/-/history?after=1"])
  func `an unknown parameter is named`(text: String) {
    #expect {
      try Target(parsing: text)
    } throws: {
      if case .unknownParameter = $0 as? AddressError { true } else { false }
    }
  }

  @Test func `forms stand at the end of the path`() throws {
    #expect(try Target(parsing: "/.json") == Target(.store, .json))
    var selection = Selection()
    selection.matches = [Selection.Match(path: "name", text: "a b")]
    #expect(try Target(parsing: "/Pod.csv?name=a+b") == Target(.entity("Pod", selection), .csv))
    #expect(try Target(parsing: "/Pod/7.jsonl") == Target(.record("Pod", 7), .jsonl))
  }
}
