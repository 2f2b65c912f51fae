import EntityStore
import Foundation

extension Specimen {
  private static let long = String(repeating: "x", count: 470)

  /// Texts that differ in normalization only, that begin alike, that are longer than a key.
  static let texts: [String] = [
    "", "a", "b", "ab", "aB", "AB", "abc", "cafe\u{301}", "caf\u{e9}", "CAF\u{c9}", "cafe",
    "\r\n", "\n", "a\r\n", "a\u{33f}x", "ab\u{33f}", "a\u{301}", "\u{e1}b", "x", "x\u{33f}y", "xy",
    "z*", "draft", "k", "\u{212a}", "\u{0}", "a\u{0}b", "😀", "e", "e\u{301}", "m\u{e9}",
    long, long + "yyyyyyyyyyyya", long + "yyyyyyyyyyyyb", long + "yyyyyyyyyyyye\u{301}",
    long + "yyyyyyyyyyyy\u{e9}", long + "z",
  ]

  static let doubles: [Double] = [
    0.0, -0.0, 0.5, 1, -1, 2, 3, 3.5, .nan, .infinity, -.infinity, 0.1, 1e300,
    9_007_199_254_740_992,
    .leastNonzeroMagnitude,
  ]

  /// Makes a record with values that are difficult to compare.
  ///
  /// There are few values of each kind, so that conditions match them.
  static func nasty(serial: Int, _ random: inout SeededNumbers) -> Specimen {
    func pick<T>(_ values: [T]) -> T { values[random.below(values.count)] }
    func maybe<T>(_ value: @autoclosure () -> T) -> T? { random.oneIn(4) ? nil : value() }
    var specimen = Specimen()
    specimen.serial = serial
    specimen.int = maybe(random.oneIn(2) ? random.below(20) : pick([.min, .max, -1, 0, 1]))
    specimen.small = pick([0, 1, 2, 3, .min, .max])
    specimen.big = pick([0, 1, 2, 3, 1 << 63, .max, 1 << 63 - 1, .max - 1])
    specimen.ratio = maybe(pick(doubles))
    specimen.single = pick([0, -0.0, 0.1, 0.5, 1, .nan, .infinity, -.infinity, 3])
    specimen.flag = random.oneIn(2)
    specimen.name = maybe(pick(texts))
    specimen.label = pick(["", "a", "b", "cafe\u{301}", "caf\u{e9}", "x", "x\u{33f}y", "xy", "m"])
    specimen.date = maybe(Date(timeIntervalSinceReferenceDate: pick(doubles + [5, 7e8])))
    specimen.amount = maybe(
      pick([0, 1, 2, -1, Decimal(12) / 10, Decimal(35) / 10, .nan, .greatestFiniteMagnitude]))
    specimen.token = maybe(
      UUID(
        uuid: (
          pick([0, 1, 127, 128, 255]), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, pick([1, 2])
        )))
    specimen.blob = maybe(Data(pick([[], [0], [1], [1, 2], [255], [255, 255], [0, 0]])))
    specimen.url = maybe(
      pick(["https://example.org/", "a", "A", "file:///a%20b"].map(AllTypes.url)))
    specimen.group = pick([0, 1, 2, .min])
    // A code is unique among the records; often it is null, which may occur many times.
    specimen.code = random.oneIn(3) ? serial % 10 + 100 * (serial / 10) : nil
    specimen.owner = maybe(
      RecordID(rawValue: pick([1, 2, 3, 4, 255, 256, 1 << 62, 1 << 63 - 1])))
    specimen.json = maybe(json(&random))
    specimen.place = place(&random, depth: 2)
    specimen.level = pick([0, 3, 3, 4, -5])
    specimen.mark = pick(["m\u{e9}", "me\u{301}", "a", "z", ""])
    specimen.extra = maybe(pick(doubles))
    return specimen
  }

  private static func json(_ random: inout SeededNumbers) -> JSONValue {
    func pick<T>(_ values: [T]) -> T { values[random.below(values.count)] }
    if random.oneIn(6) {
      return pick([.null, .integer(1), .string("a"), .array([]), .array([1, 2])])
    }
    var members: [String: JSONValue] = [:]
    if !random.oneIn(4) {
      members["n"] = pick([
        .integer(1), .double(1), .integer(-3), .double(2.5), .string("a"), .string("cafe\u{301}"),
        .null, .array([1]),
      ])
    }
    members["tags"] = .array(
      (0..<random.below(4)).map { _ in .string(pick(["a", "b", "caf\u{e9}", "\r\n", "AB"])) })
    if !random.oneIn(3) {
      members["items"] = .array(
        (0..<random.below(4)).map { _ in
          ["p": .integer(Int64(random.below(5))), "q": pick(["a", "b", .null])]
        })
    }
    members["deep"] = ["a": .array([.integer(Int64(random.below(3))), .integer(7)])]
    return .object(members)
  }

  private static func place(_ random: inout SeededNumbers, depth: Int) -> Place {
    let name = texts[random.below(12)]
    let tags = random.oneIn(2) ? [:] : ["k": (0..<random.below(3)).map { $0 + random.below(2) }]
    let inner =
      depth == 0 ? [] : (0..<random.below(3)).map { _ in place(&random, depth: depth - 1) }
    return Place(name: name, tags: tags, inner: inner)
  }
}
