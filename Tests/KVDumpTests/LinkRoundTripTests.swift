import EntityStore
import Foundation
import Testing

@testable import KVDumpCommands

struct Mark: Codable, Hashable, Sendable {
  var name: String
  var weights: [String: [Double]]
  var day: Date?
}

/// A record with attributes of many types, and with links to other records of its entity.
struct Knot: Entity {
  var id = RecordID<Knot>()
  var name: String
  var boss: RecordID<Knot>?
  var float = Float(0), double = 0.0, int = 0, uint = UInt64(0)
  var day = Date(timeIntervalSinceReferenceDate: 0), price = Decimal(0), data = Data()
  var json = JSONValue.null
  var mark = Mark(name: "", weights: [:])
  var text: String?, number: Double?, later: Date?, extra: JSONValue?

  static let kids = ToMany<Knot, Knot>(ordered: true)
  static let friends = ToMany<Knot, Knot>()
  static let staff = ToMany<Knot, Knot>(inverse: \.boss)

  static let schema = EntitySchema<Knot>(
    "Knot",
    attributes: [
      .init("name", \.name), .toOne("boss", \.boss), .init("float", \.float),
      .init("double", \.double), .init("int", \.int), .init("uint", \.uint), .init("day", \.day),
      .init("price", \.price), .init("data", \.data), .init("json", \.json), .init("mark", \.mark),
      .init("text", \.text), .init("number", \.number), .init("later", \.later),
      .init("extra", \.extra),
    ], unique: [[\.name]],
    relationships: [.init("kids", kids), .init("friends", friends), .init("staff", staff)])

  init(name: String) { self.name = name }

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    boss = try reader.read()
    float = try reader.read()
    double = try reader.read()
    int = try reader.read()
    uint = try reader.read()
    day = try reader.read()
    price = try reader.read()
    data = try reader.read()
    json = try reader.read()
    mark = try reader.read()
    text = try reader.read()
    number = try reader.read()
    later = try reader.read()
    extra = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(boss)
    writer.write(float)
    writer.write(double)
    writer.write(int)
    writer.write(uint)
    writer.write(day)
    writer.write(price)
    writer.write(data)
    writer.write(json)
    writer.write(mark)
    writer.write(text)
    writer.write(number)
    writer.write(later)
    writer.write(extra)
  }
}

/// Random values, including values that texts often lose.
struct KnotValues {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func bits() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return state ^ state >> 29
  }

  mutating func number(below bound: Int) -> Int { Int(bits() >> 20 % UInt64(bound)) }

  mutating func isChosen() -> Bool { number(below: 2) == 0 }

  mutating func double() -> Double {
    let odd: [Double] = [
      -0.0, .nan, .infinity, -.infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 0.1,
      9_007_199_254_740_992, 1e300,
    ]
    let drawn = Double(bitPattern: bits())
    return isChosen() || drawn.isNaN ? odd[number(below: odd.count)] : drawn
  }

  mutating func text() -> String {
    let parts = [
      "e\u{301}", "é", "\u{0}", "\"", "\\", "\u{2028}", "𝕏", "\u{FEFF}", "a", " ", "\u{7f}", "\n",
      "\u{1F468}\u{200D}\u{1F469}", "\u{fffe}", "$document", "1e5",
    ]
    return (0..<number(below: 5)).map { _ in parts[number(below: parts.count)] }.joined()
  }

  mutating func date() -> Date {
    let seconds: [Double] = [
      0.1 + Double(number(below: 1_000_000_000)), -978_307_201, Double(number(below: 1000)) * 1e-9,
      -6e10 - Double(number(below: 1000)) / 7, 2e11 + Double(number(below: 1000)) * 0.001,
    ]
    return Date(timeIntervalSinceReferenceDate: seconds[number(below: seconds.count)])
  }

  mutating func json(depth: Int = 0) -> JSONValue {
    switch number(below: depth > 2 ? 5 : 7) {
    case 0: return .null
    case 1: return .integer(Int64(bitPattern: bits()))
    case 2:
      let number = double()
      return .double(number.isFinite ? number : -0.0)
    case 3: return .string(text())
    case 4: return .bool(isChosen())
    case 5: return .array((0..<number(below: 4)).map { _ in json(depth: depth + 1) })
    default:
      let members = (0..<number(below: 4)).map { _ in (text(), json(depth: depth + 1)) }
      return .object(Dictionary(members, uniquingKeysWith: { first, _ in first }))
    }
  }

  mutating func knot(_ name: String) -> Knot {
    var knot = Knot(name: name)
    knot.float = Float(double())
    knot.double = double()
    knot.int = Int(bitPattern: UInt(bits()))
    knot.uint = bits()
    knot.day = date()
    knot.price = Decimal(
      sign: isChosen() ? .plus : .minus, exponent: number(below: 120) - 60,
      significand: Decimal(number(below: 1_000_000_000)))
    knot.data = Data((0..<number(below: 6)).map { _ in UInt8(number(below: 256)) })
    knot.json = json()
    knot.mark = Mark(name: text(), weights: [text(): [double()]], day: isChosen() ? date() : nil)
    if isChosen() { knot.text = text() }
    if isChosen() { knot.number = double() }
    if isChosen() { knot.later = date() }
    if isChosen() { knot.extra = json() }
    return knot
  }

  mutating func targets(_ ids: [RecordID<Knot>]) -> [RecordID<Knot>] {
    var seen: Set<RecordID<Knot>> = []
    return (0..<number(below: 6)).map { _ in ids[number(below: ids.count)] }
      .filter { seen.insert($0).inserted }
  }
}

/// Links lead to records of the same page, of earlier pages and of later pages.
@Suite struct `Export, import and export` {
  static func fill(_ store: Store, _ values: inout KnotValues, count: Int = 2_300) throws {
    try store.write { tx throws in
      let ids = Array(try tx.insert((0..<count).map { values.knot("n\($0)") }).ids)
      for id in ids {
        if values.isChosen() { try tx.add(values.targets(ids), to: Knot.kids, of: id) }
        if values.isChosen() { try tx.add(values.targets(ids), to: Knot.friends, of: id) }
        let boss = ids[values.number(below: ids.count)]
        if values.isChosen() { try tx.modify(id) { $0.boss = boss } }
      }
    }
  }

  @Test(arguments: [(1, "jsonl"), (2, "json")] as [(UInt64, String)])
  func `export, import and export give the same bytes, with all values, links and orders`(
    seed: UInt64, format: String
  ) async throws {
    var values = KnotValues(seed: seed)
    let folder = try StoreFolder()
    let copy = try StoreFolder()
    let store = try Store(at: folder.store, entities: [Knot.self])
    try Self.fill(store, &values)
    store.close()
    try Store(at: copy.store, entities: [Knot.self]).close()
    func export(_ from: StoreFolder) async throws -> String {
      let console = MemoryConsole()
      let status = await KVDump.execute(
        [
          "export", from.store, "--all-entities", from.path + "/out", "--links", "--format", format,
        ], on: console.console)
      #expect(status == .success, "\(console.messages.text)")
      return try String(contentsOfFile: from.path + "/out/Knot.\(format)", encoding: .utf8)
    }
    let first = try await export(folder)
    let imported = await copy.importing([
      folder.path + "/out/Knot.\(format)", "--entity", "Knot", "--links",
    ])
    #expect(imported.status == .success, "\(imported.messages)")
    #expect(try copy.report(imported) == ImportCounts(records: 2_300, inserted: 2_300))
    let second = try await export(copy)
    let pairs = zip(first.split(separator: "\n"), second.split(separator: "\n"))
    #expect(
      first.utf8.elementsEqual(second.utf8), "\(pairs.first { $0 != $1 }.map { "\($0)" } ?? "")")
    #expect(await copy.isSound())
  }
}
