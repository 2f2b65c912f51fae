import EntityStore

/// A record of the battery: skewed, correlated and null-rich attributes, most of them indexed.
struct Sighting: BatteryEntity {
  var id = RecordID<Sighting>()
  /// A unique text, in random order.
  var key: String
  /// The number of the record.
  var seq: Int
  /// About ten times the number of the record, so nearly in the order of ids.
  var ts: Int
  /// An attribute with as many values as there are records.
  var rnd: Int
  /// A thousandth of `rnd`, so the two attributes are correlated.
  var corr: Int
  /// A skewed number: half of the records have 1, a quarter have 2 or 3, and so on.
  var skew: Int
  /// One of five values; nearly half of the records have the first value.
  var low: String
  /// The state: "pending" for the last half percent of the records, "done" or "late" for the
  /// others.
  var state: String
  /// A number that is null in nineteen of twenty records.
  var nul: Int?
  /// A number that is null in every second record, otherwise a quarter of 0 to 999.
  var score: Double?
  /// "c000" to "c999".
  var cat: String
  /// A text such as "name 0000042", in the same order as `rnd`.
  var name: String
  var flag: Bool
  /// An attribute with as many values as there are records.
  ///
  /// A number with as many values as records. No index has this attribute or the following ones.
  var noidx: Int
  /// A quarter of a number from 0 to 3,999.
  var amount: Double
  /// A text of twelve words.
  var text: String
  /// A JSON value that is null in every third record.
  var meta: JSONValue?

  static let subject = BatteryQuery.Subject.sighting
  static let indexed = [
    ["key"], ["seq"], ["ts"], ["rnd"], ["corr"], ["skew"], ["low"], ["state"], ["nul"], ["score"],
    ["name"], ["cat", "rnd"], ["low", "ts"], ["flag", "amount"],
  ]
  static let lows = ["active", "closed", "draft", "open", "void"]
  static let words: [String] = {
    var numbers = BatteryNumbers(seed: 7)
    return (0..<500).map { _ in
      String(
        (0..<(3 + numbers.below(7))).map { _ in
          "abcdefghijklmnopqrstuvwxyz".randomElement(using: &numbers) ?? "a"
        })
    }
  }()

  static func padded(_ number: Int, to width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }

  static func numbered(_ number: Int, of count: Int) -> Sighting {
    var numbers = BatteryNumbers(seed: number)
    let rnd = numbers.below(count)
    let key = String(numbers.next() | 1 << 63, radix: 16)
    let ts = number * 10 + numbers.below(9)
    let skew = Int(min(1e6, 1 / (1 - numbers.fraction())))
    let low = lows[Int(numbers.fraction() * numbers.fraction() * 5)]
    let isPending = number >= count - count / 200
    let isLate = numbers.below(5) == 0
    let nul = numbers.below(20) == 0 ? numbers.below(count) : nil
    let score = numbers.below(2) == 0 ? Double(numbers.below(4_000)) / 4 : nil
    let cat = "c" + padded(numbers.below(1_000), to: 3)
    let noidx = numbers.below(count)
    let amount = Double(numbers.below(16_000)) / 4
    let text = (0..<12).map { _ in words[numbers.below(500)] }.joined(separator: " ")
    return Sighting(
      key: key, seq: number, ts: ts, rnd: rnd, corr: rnd / 1_000, skew: skew, low: low,
      state: isPending ? "pending" : isLate ? "late" : "done", nul: nul, score: score, cat: cat,
      name: "name " + padded(rnd, to: 7), flag: numbers.below(10) == 0, noidx: noidx,
      amount: amount, text: text,
      meta: number % 3 == 0
        ? nil : ["kind": .string(lows[number % 5]), "size": .integer(Int64(noidx % 1_000))])
  }

  static let readName = "noidx"

  static func readNumber(of view: borrowing EntityView<Sighting>) -> UInt64 {
    BatteryAnswer.key(view.noidx)
  }

  var values: [BatteryLiteral] {
    let metaText = meta.map { _ in
      "{\"kind\":\"\(Self.lows[seq % 5])\",\"size\":\(noidx % 1_000)}"
    }
    return [
      .text(key), .int(seq), .int(ts), .int(rnd), .int(corr), .int(skew), .text(low),
      .text(state), nul.map { .int($0) } ?? .null, score.map { .double($0) } ?? .null, .text(cat),
      .text(name), .bool(flag), .int(noidx), .double(amount), .text(text),
      metaText.map { .text($0) } ?? .null,
    ]
  }
}

extension Sighting: Entity {
  struct Attributes: Sendable {
    var id: Attribute<Sighting, RecordID<Sighting>> { .recordID }
    var key: Attribute<Sighting, String> { .init(0) }
    var seq: Attribute<Sighting, Int> { .init(1) }
    var ts: Attribute<Sighting, Int> { .init(2) }
    var rnd: Attribute<Sighting, Int> { .init(3) }
    var corr: Attribute<Sighting, Int> { .init(4) }
    var skew: Attribute<Sighting, Int> { .init(5) }
    var low: Attribute<Sighting, String> { .init(6) }
    var state: Attribute<Sighting, String> { .init(7) }
    var nul: Attribute<Sighting, Int?> { .init(8) }
    var score: Attribute<Sighting, Double?> { .init(9) }
    var cat: Attribute<Sighting, String> { .init(10) }
    var name: Attribute<Sighting, String> { .init(11) }
    var flag: Attribute<Sighting, Bool> { .init(12) }
    var noidx: Attribute<Sighting, Int> { .init(13) }
    var amount: Attribute<Sighting, Double> { .init(14) }
    var text: Attribute<Sighting, String> { .init(15) }
    var meta: Attribute<Sighting, JSONValue?> { .init(16) }
  }

  static var attributes: Attributes { Attributes() }

  static let columns: [(name: String, column: BatteryColumn<Sighting>)] = [
    ("key", .text(\.key)), ("seq", .int(\.seq)), ("ts", .int(\.ts)), ("rnd", .int(\.rnd)),
    ("corr", .int(\.corr)), ("skew", .int(\.skew)), ("low", .text(\.low)),
    ("state", .text(\.state)), ("nul", .optionalInt(\.nul)), ("score", .optionalDouble(\.score)),
    ("cat", .text(\.cat)), ("name", .text(\.name)), ("flag", .bool(\.flag)),
    ("noidx", .int(\.noidx)), ("amount", .double(\.amount)), ("text", .text(\.text)),
    ("meta", .json),
  ]
  private static let columnsByName = Dictionary(uniqueKeysWithValues: columns.map { ($0, $1) })

  static func column(_ name: String) -> BatteryColumn<Sighting>? { columnsByName[name] }

  static let schema = EntitySchema<Sighting>(
    "Sighting",
    attributes: [
      .init("key", \.key), .init("seq", \.seq), .init("ts", \.ts), .init("rnd", \.rnd),
      .init("corr", \.corr), .init("skew", \.skew), .init("low", \.low), .init("state", \.state),
      .init("nul", \.nul), .init("score", \.score), .init("cat", \.cat), .init("name", \.name),
      .init("flag", \.flag), .init("noidx", \.noidx), .init("amount", \.amount),
      .init("text", \.text), .init("meta", \.meta),
    ],
    unique: [[\.key]],
    indexes: [
      [\.seq], [\.ts], [\.rnd], [\.corr], [\.skew], [\.low], [\.state], [\.nul], [\.score],
      [\.name], [\.cat, \.rnd], [\.low, \.ts], [\.flag, \.amount],
    ])

  func encode(into writer: inout RecordWriter) {
    writer.write(key)
    writer.write(seq)
    writer.write(ts)
    writer.write(rnd)
    writer.write(corr)
    writer.write(skew)
    writer.write(low)
    writer.write(state)
    writer.write(nul)
    writer.write(score)
    writer.write(cat)
    writer.write(name)
    writer.write(flag)
    writer.write(noidx)
    writer.write(amount)
    writer.write(text)
    writer.write(meta)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    key = try reader.read()
    seq = try reader.read()
    ts = try reader.read()
    rnd = try reader.read()
    corr = try reader.read()
    skew = try reader.read()
    low = try reader.read()
    state = try reader.read()
    nul = try reader.read()
    score = try reader.read()
    cat = try reader.read()
    name = try reader.read()
    flag = try reader.read()
    noidx = try reader.read()
    amount = try reader.read()
    text = try reader.read()
    meta = try reader.read()
  }
}
