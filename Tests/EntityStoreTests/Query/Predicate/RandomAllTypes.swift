import EntityStore
import Foundation

extension AllTypes {
  /// A value that breaks comparisons.
  ///
  /// The values are NaN, -0.0, infinities, accents in both forms, line breaks of two characters,
  /// the ends of the integers, and nulls. There are few values of each kind, so that predicates
  /// match them.
  static func nasty(_ random: inout SeededNumbers) -> AllTypes {
    func pick<T>(_ values: [T]) -> T { values[random.below(values.count)] }
    func maybe<T>(_ value: T) -> T? { random.oneIn(3) ? nil : value }
    func integer<T: FixedWidthInteger>(_: T.Type) -> T { pick([0, 1, 2, 3, 4, 5, 6, .min, .max]) }
    let texts = [
      "", "a", "b", "ab", "cafe\u{301}", "caf\u{e9}", "cafe", "\r\n", "\n", "bc", "draft",
    ]
    let doubles = [
      0.0, -0.0, 0.5, 1, -1, 3, .nan, .infinity, -.infinity, 0.1, .leastNonzeroMagnitude,
    ]
    let decimals: [Decimal] = [0, 1, 2, -1, Decimal(12) / 10, .nan, .greatestFiniteMagnitude]
    let urls = ["https://example.org/", "https://example.org/a", "a", "file:///a%20b"].map(url)
    func date() -> Date { Date(timeIntervalSinceReferenceDate: pick(doubles + [5])) }
    func uuid() -> UUID {
      UUID(uuid: (pick([0, 1, 255]), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, pick([1, 2])))
    }
    func data() -> Data { Data(pick([[], [1], [1, 2], [255]])) }
    func list() -> [String] { (0..<random.below(4)).map { _ in pick(texts) } }
    func place(depth: Int = 2) -> Place {
      let tags = random.oneIn(2) ? [:] : [pick(texts): [1]]
      let inner = depth == 0 ? [] : (0..<random.below(3)).map { _ in place(depth: depth - 1) }
      return Place(name: pick(texts), tags: tags, inner: inner)
    }
    func json() -> JSONValue {
      pick([.null, .integer(1), .double(1), .string("a"), .bool(true), [], ["k": .null]])
    }
    var all = AllTypes()
    all.bool = random.oneIn(2)
    all.int8 = integer(Int8.self)
    all.int16 = integer(Int16.self)
    all.int32 = integer(Int32.self)
    all.int64 = integer(Int64.self)
    all.int = integer(Int.self)
    all.uint8 = integer(UInt8.self)
    all.uint16 = integer(UInt16.self)
    all.uint32 = integer(UInt32.self)
    all.uint64 = integer(UInt64.self)
    all.uint = integer(UInt.self)
    all.float = Float(pick(doubles))
    all.double = pick(doubles)
    all.string = pick(texts)
    all.data = data()
    all.date = date()
    all.uuid = uuid()
    all.url = pick(urls)
    all.decimal = pick(decimals)
    all.stage = pick([.draft, .released, .yanked])
    all.grade = pick([.low, .middle, .high])
    all.list = list()
    all.table = random.oneIn(2) ? ["k": pick(doubles)] : [:]
    all.place = place()
    all.json = json()
    all.optionalBool = maybe(random.oneIn(2))
    all.optionalInt16 = maybe(integer(Int16.self))
    all.optionalUInt64 = maybe(pick([0, 3, .max, .max - 1]))
    all.optionalFloat = maybe(Float(pick(doubles)))
    all.optionalDouble = maybe(pick(doubles))
    all.optionalString = maybe(pick(texts))
    all.optionalData = maybe(data())
    all.optionalDate = maybe(date())
    all.optionalUUID = maybe(uuid())
    all.optionalURL = maybe(pick(urls))
    all.optionalDecimal = maybe(pick(decimals))
    all.optionalStage = maybe(pick([.draft, .released]))
    all.optionalGrade = maybe(pick([.low, .high]))
    all.optionalList = maybe([1, 2])
    all.optionalPlace = maybe(place())
    all.optionalJSON = maybe(json())
    all.film = RecordID(rawValue: pick([1, 2, 3, 1 << 63 - 1]))
    all.optionalFilm = maybe(RecordID(rawValue: pick([1, 3, 256])))
    return all
  }
}
