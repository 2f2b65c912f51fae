import EntityStore

/// A wide record of the battery: 40 numbers `n00` to `n39` and 40 texts `t00` to `t39`.
///
/// The last attribute of each kind is as far from the beginning of the record as possible.
struct Broad: BatteryEntity {
  var id = RecordID<Broad>()
  /// The numbers; the first one is the record's number.
  ///
  /// Each further number has ten times as many distinct values as the previous one: ten, a hundred,
  /// up to the record count, then ten again.
  var numbers: [Int]
  /// The texts, each a word and a number; the first has the values "word 0" to "word 9".
  var texts: [String]

  static let subject = BatteryQuery.Subject.broad
  static let width = 40
  static let indexed = [["n00"], ["n02"], ["n03", "n04"], ["t02"]]

  static func name(_ kind: String, _ place: Int) -> String {
    kind + Sighting.padded(place, to: 2)
  }

  static func numbered(_ number: Int, of count: Int) -> Broad {
    var generator = BatteryNumbers(seed: ~number)
    func limit(_ place: Int) -> Int { min(count, [10, 100, 1_000, 10_000][place % 4]) }
    var numbers = [number]
    for place in 1..<width { numbers.append(generator.below(limit(place))) }
    let texts = (0..<width).map { place in
      "\(Sighting.words[place]) \(generator.below(limit(place)))"
    }
    return Broad(numbers: numbers, texts: texts)
  }

  static let readName = "n39"

  static func readNumber(of view: borrowing EntityView<Broad>) -> UInt64 {
    BatteryAnswer.key(view.lastNumber)
  }

  var values: [BatteryLiteral] { numbers.map { .int($0) } + texts.map { .text($0) } }
}

extension Broad: Entity {
  struct Attributes: Sendable {
    var id: Attribute<Broad, RecordID<Broad>> { .recordID }
    var lastNumber: Attribute<Broad, Int> { .init(Broad.width - 1) }

    subscript(number place: Int) -> Attribute<Broad, Int> { .init(place) }
    subscript(text place: Int) -> Attribute<Broad, String> { .init(Broad.width + place) }
  }

  static var attributes: Attributes { Attributes() }

  static let columns: [(name: String, column: BatteryColumn<Broad>)] =
    (0..<width).map { (name("n", $0), .int(\.[number: $0])) }
    + (0..<width).map { (name("t", $0), .text(\.[text: $0])) }
  private static let columnsByName = Dictionary(uniqueKeysWithValues: columns.map { ($0, $1) })

  static func column(_ name: String) -> BatteryColumn<Broad>? { columnsByName[name] }

  static let schema = EntitySchema<Broad>(
    "Broad",
    attributes: (0..<width).map { .init(name("n", $0), \.numbers[$0]) }
      + (0..<width).map { .init(name("t", $0), \.texts[$0]) },
    indexes: [
      [\.numbers[0]], [\.numbers[2]], [\.numbers[3], \.numbers[4]], [\.texts[2]],
    ])

  func encode(into writer: inout RecordWriter) {
    for number in numbers { writer.write(number) }
    for text in texts { writer.write(text) }
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    numbers = []
    texts = []
    for _ in 0..<Self.width { numbers.append(try reader.read()) }
    for _ in 0..<Self.width { texts.append(try reader.read()) }
  }
}
