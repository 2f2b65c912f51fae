internal import LodestoreBytes
package import LodestoreFormat

/// Works out the attributes of an entity from the records that are to become its records.
///
/// A JSON member is bool, int64, uint64, double or string where all its values are, and JSON where
/// they differ or are arrays or objects. Integers and other numbers together are double if each
/// integer is exactly a double. Numbers are decimal where an integer has more than 64 bits or a
/// number is outside of the range of a double. Strings stay strings: a JSON string that looks like
/// a date is not taken for one.
///
/// A column of separated values has texts only, so its type is the one that all of them can be read
/// as: see ``TextForm``. A column with texts of different types is string. A member is optional
/// where it is absent or null.
package struct SchemaInference {
  /// A record has more different members than an entity can have attributes.
  package struct TooManyMembers: Error {}

  private struct Member {
    var kinds: Kinds = []
    var presentCount = 0
    var integersAreDoubles = true
    var numbersAreDecimals = true
    /// The range of the whole numbers, with 0.
    var least = Int64(0)
    var greatest = UInt64(0)
    var hasFractions = false
    /// Whether a `Float` takes all numbers.
    var numbersAreFloats = true
    /// Whether some values came in JSON, and some as texts of separated values.
    var isOfJSON = false
    var isOfTexts = false
    /// Whether a record has a member of this name; a value at the end of a path is no member.
    var isMember = false

    mutating func note(whole signed: Int64?, _ unsigned: UInt64?) {
      if let signed {
        least = min(least, signed)
        greatest = max(greatest, UInt64(max(signed, 0)))
      }
      if let unsigned { greatest = max(greatest, unsigned) }
      if signed == nil, unsigned == nil { hasFractions = true }
    }

    mutating func note(_ value: Double) {
      let float = Float(value)
      if !float.isFinite || float == 0 && value != 0 { numbersAreFloats = false }
    }
  }

  private struct Kinds: OptionSet {
    let rawValue: UInt16
    static let bool = Kinds(rawValue: 1)
    static let integer = Kinds(rawValue: 2)
    static let negative = Kinds(rawValue: 4)
    static let unsigned = Kinds(rawValue: 8)
    static let double = Kinds(rawValue: 16)
    static let string = Kinds(rawValue: 32)
    static let nested = Kinds(rawValue: 64)
    static let decimal = Kinds(rawValue: 128)
    static let date = Kinds(rawValue: 256)
  }

  private var members: [Member] = []
  private var indexByName: [String: Int] = [:]
  /// The members in the order in which they first came.
  package private(set) var names: [String] = []
  /// The number of records taken into account.
  package private(set) var recordCount = 0
  /// The reason why the first value that is not a record was left out; nil while there is no such
  /// value.
  package private(set) var rejection: String?
  /// Whether the type of a member was read from its texts.
  package private(set) var hasReadTexts = false

  /// The paths into members that count as members.
  private let paths: [String]
  /// Members that are looked into, and not taken themselves.
  private let roots: Set<String>
  private let readsTexts: Bool
  /// Whether stored attributes may be too narrow for some numbers.
  private let comparesRanges: Bool
  /// How many members there may be.
  private let limit: Int
  private var isOverLimit = false

  /// - Parameters:
  ///   - mapped: the names of members that a person has named; paths among them are followed.
  ///   - readsTexts: whether columns of separated values get the types of their texts; otherwise they
  ///     are strings.
  ///   - stored: how many attributes the entity has, whose members are not counted as new ones.
  package init(mapped: [String] = [], readsTexts: Bool = true, stored: Int = 0) {
    paths = mapped.filter(MemberPath.isPath).sorted()
    roots = Set(paths.map(MemberPath.root)).subtracting(mapped)
    self.readsTexts = readsTexts
    comparesRanges = stored > 0
    limit = DeclaredEntity.mostAttributes + stored
  }

  /// Takes one record into account; a value that is no record is ignored, as the import rejects it.
  ///
  /// - Parameter isOfTexts: whether its values are texts of separated values.
  package mutating func observe(
    _ record: JSONRecord, isOfTexts: Bool = false
  ) throws(TooManyMembers) {
    var followed: Set<String> = []
    let found = record.forEachMember { name, node in
      if !paths.isEmpty, paths.contains(name) { followed.insert(name) }
      if !roots.contains(name) { observe(name, node, isOfTexts: isOfTexts, isMember: true) }
    }
    if isOverLimit { throw TooManyMembers() }
    if let found {
      rejection = rejection ?? found.reason
      return
    }
    recordCount += 1
    for path in paths where !followed.contains(path) {
      guard let node = record.node[path: path] else { continue }
      observe(path, node, isOfTexts: isOfTexts, isMember: false)
    }
  }

  private mutating func observe(
    _ name: String, _ node: JSONNode, isOfTexts: Bool, isMember: Bool
  ) {
    guard let index = indexByName[name] ?? add(name) else { return }
    if isMember { members[index].isMember = true }
    if isOfTexts { members[index].isOfTexts = true } else { members[index].isOfJSON = true }
    if node.isNull { return }
    members[index].presentCount += 1
    if isOfTexts, let text = node.string {
      observe(text, at: index)
    } else {
      observe(node, at: index)
    }
  }

  /// The number of a new member; nil where there are too many already.
  private mutating func add(_ name: String) -> Int? {
    guard members.count < limit else {
      isOverLimit = true
      return nil
    }
    indexByName[name] = members.count
    names.append(name)
    members.append(Member())
    return members.count - 1
  }

  private mutating func observe(_ node: JSONNode, at index: Int) {
    switch node.kind {
    case .null: break
    case .bool: members[index].kinds.insert(.bool)
    case .integer where node.int64 == nil && node.uint64 == nil:
      members[index].kinds.insert(.decimal)
      if node.numberText.flatMap({ DecimalValue(text: $0) }) == nil {
        members[index].numbersAreDecimals = false
      }
    case .integer: observe(integer: node.int64, node.uint64, at: index)
    case .double: observe(fraction: node, at: index)
    case .string: members[index].kinds.insert(.string)
    case .array, .object: members[index].kinds.insert(.nested)
    }
  }

  private mutating func observe(fraction node: JSONNode, at index: Int) {
    let isWide = node.wideNumber != nil
    members[index].kinds.insert(isWide ? .decimal : .double)
    if comparesRanges {
      if !members[index].hasFractions { members[index].note(whole: node.int64, node.uint64) }
      if !isWide, let value = node.double { members[index].note(value) }
    }
    // A number of few digits within the range of a double is always a decimal.
    let isLong = isWide || node.withSourceBytes { $0.count > 32 }
    if isLong, node.numberText.flatMap({ DecimalValue(text: $0) }) == nil {
      members[index].numbersAreDecimals = false
    }
  }

  private mutating func observe(integer signed: Int64?, _ unsigned: UInt64?, at index: Int) {
    if let signed {
      members[index].kinds.insert(signed < 0 ? [.integer, .negative] : .integer)
      if Double(exactly: signed) == nil { members[index].integersAreDoubles = false }
      if comparesRanges, Float(exactly: signed) == nil { members[index].numbersAreFloats = false }
    } else {
      members[index].kinds.insert(.unsigned)
      if unsigned.flatMap({ Double(exactly: $0) }) == nil {
        members[index].integersAreDoubles = false
      }
      if unsigned.flatMap({ Float(exactly: $0) }) == nil { members[index].numbersAreFloats = false }
    }
    members[index].note(whole: signed, unsigned)
  }

  private mutating func observe(_ text: String, at index: Int) {
    // Texts of one type say no more once there is one of another.
    guard readsTexts, !members[index].kinds.contains(.string) else {
      members[index].kinds.insert(.string)
      return
    }
    switch TextForm(text) {
    case .integer(let number): observe(integer: number, nil, at: index)
    case .unsigned(let number): observe(integer: nil, number, at: index)
    case .number(let isDouble):
      members[index].kinds.insert(isDouble ? .double : .decimal)
      let value = Double(text) ?? .infinity
      members[index].note(whole: Int64(exactly: value), UInt64(exactly: value))
      members[index].note(value)
      if DecimalValue(text: text) == nil { members[index].numbersAreDecimals = false }
    case .bool: members[index].kinds.insert(.bool)
    case .date: members[index].kinds.insert(.date)
    case .text: members[index].kinds.insert(.string)
    }
    if members[index].kinds != .string { hasReadTexts = true }
  }

  /// The type of a member, and whether some record lacks it.
  package func attribute(_ name: String) -> (type: AttributeType, isOptional: Bool)? {
    guard let index = indexByName[name] else { return nil }
    return (type(of: members[index]), members[index].presentCount < recordCount)
  }

  /// Whether a record has a member of this name, which is more than something at this path.
  package func isMember(_ name: String) -> Bool {
    indexByName[name].map { members[$0].isMember } ?? false
  }

  /// The type that an attribute of a number type needs to take all values of a member; `nil` where
  /// it takes them, and where none does.
  package func wider(than type: AttributeType, for name: String) -> AttributeType? {
    guard let index = indexByName[name] else { return nil }
    let member = members[index]
    guard !member.kinds.isEmpty, member.kinds.isSubset(of: Self.numbers) else { return nil }
    let needsDecimal = member.kinds.contains(.decimal)
    let fits: Bool
    switch type {
    case .float: fits = member.numbersAreFloats && !needsDecimal
    case .double: fits = member.integersAreDoubles && !needsDecimal
    default:
      guard let range = type.integerRange else { return nil }
      fits = !member.hasFractions && range.low <= member.least && member.greatest <= range.high
    }
    if fits { return nil }
    let found = self.type(of: member)
    if type.widens(to: found) { return found }
    if type == .float, member.integersAreDoubles, !needsDecimal { return .double }
    return member.numbersAreDecimals ? .decimal : nil
  }

  private static let numbers: Kinds = [.integer, .negative, .unsigned, .double, .decimal]

  private func type(of member: Member) -> AttributeType {
    switch member.kinds {
    case .bool: return .bool
    case .string: return .string
    case .date: return .date
    case .integer, [.integer, .negative]: return .int64
    case .unsigned, [.integer, .unsigned]: return .uint64
    default: break
    }
    let isNumber = !member.kinds.isEmpty && member.kinds.isSubset(of: Self.numbers)
    let fractions: Kinds = [.double, .decimal]
    if isNumber, !member.kinds.isDisjoint(with: fractions) {
      let needsDecimal = member.kinds.contains(.decimal)
      if member.integersAreDoubles, !needsDecimal { return .double }
      // JSON numbers with a fraction are meant as doubles, unless a number is outside of their
      // range.
      let isExact = !member.isOfJSON || !member.kinds.contains(.double) || needsDecimal
      if isExact, member.numbersAreDecimals { return .decimal }
    }
    return member.isOfJSON ? .json : .string
  }
}

/// The type that a text of separated values can be read as without losing a significant character.
///
/// - Integers and numbers are written as in JSON, or as `.5`. With a zero or a plus in front a text
///   stays a text: it may be an id, a postcode or a telephone number.
/// - A number that no double gives back with all its digits is a decimal.
/// - `true` and `false` in any case of letters are Booleans; `1`, `0`, `yes` and `no` are not.
/// - A date begins as `2024-01-05` and is a date of ISO 8601. A date has up to six decimals of a
///   second, and fewer far from 2001, where a double holds fewer.
enum TextForm: Equatable {
  case integer(Int64)
  case unsigned(UInt64)
  /// `isDouble`: whether a double gives back all of its digits.
  case number(isDouble: Bool)
  case bool
  case date
  case text

  init(_ text: String) {
    var text = text
    self = text.withUTF8 { Self.form(ByteView($0)) } ?? Self.numberOrDate(text)
  }

  /// The form by the first look; nil where the text may be a number or a date.
  private static func form(_ bytes: ByteView) -> TextForm? {
    guard let first = bytes.first else { return .text }
    if first == UInt8(ascii: "-") || first == UInt8(ascii: ".") { return nil }
    if (0x30...0x39).contains(first) { return nil }
    for word in ["true", "false"] where bytes.count == word.utf8.count {
      // Setting one bit makes small letters of capitals, and of no other byte a letter.
      if zip(bytes, word.utf8).allSatisfy({ ($0 | 0x20) == $1 }) { return .bool }
    }
    return .text
  }

  private static func numberOrDate(_ text: String) -> TextForm {
    let scan = NumberScan(text.utf8)
    guard scan.isNumber else { return isDate(text) ? .date : .text }
    if scan.isInteger, !scan.isNegativeZero {
      if let number = Int64(text) { return .integer(number) }
      if let number = UInt64(text) { return .unsigned(number) }
      return .text
    }
    guard let value = Double(text), value.isFinite else {
      return DecimalValue(text: text) == nil ? .text : .number(isDouble: false)
    }
    // Fifteen digits are always given back.
    if scan.significantDigits <= 15, value.magnitude >= Double.leastNormalMagnitude || value == 0 {
      return .number(isDouble: value != 0 || scan.significantDigits == 0)
    }
    let decimal = DecimalValue(text: text)
    if let decimal, DecimalValue(text: "\(value)") == decimal { return .number(isDouble: true) }
    return decimal == nil ? .text : .number(isDouble: false)
  }

  private static func isDate(_ text: String) -> Bool {
    let bytes = text.utf8
    guard bytes.count >= 10, bytes.count <= 40 else { return false }
    for (offset, byte) in bytes.prefix(10).enumerated() {
      let isHyphen = byte == UInt8(ascii: "-")
      guard offset == 4 || offset == 7 ? isHyphen : (0x30...0x39).contains(byte) else {
        return false
      }
    }
    guard let date = ISO8601Text.date(text) else { return false }
    // A date is a double: it holds microseconds near our time and fewer decimals far from it.
    let decimals = Self.decimals(of: text)
    guard decimals.utf8.count <= 6 else { return false }
    return decimals.isEmpty || ISO8601Text.text(date).map { Self.decimals(of: $0) } == decimals
  }

  /// The decimals of a second in the text of a date, without zeros at the end.
  private static func decimals(of text: String) -> Substring {
    let bytes = text.utf8
    guard
      let point = bytes.firstIndex(where: { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: ",") })
    else { return "" }
    var decimals = bytes[point...].dropFirst().prefix { (0x30...0x39).contains($0) }
    while decimals.last == 0x30 { decimals.removeLast() }
    return Substring(decimals)
  }

  /// A number as JSON spells it, or without a zero in front of the point.
  private struct NumberScan {
    var isNumber = false
    var isInteger = true
    var isNegativeZero = false
    /// The digits without zeros in front.
    var significantDigits = 0

    init(_ bytes: String.UTF8View) {
      var rest = bytes[...]
      let isNegative = rest.first == UInt8(ascii: "-")
      if isNegative { rest.removeFirst() }
      let whole = rest.prefix { (0x30...0x39).contains($0) }
      let isFraction = whole.isEmpty && rest.first == UInt8(ascii: ".")
      guard isFraction || whole.first.map({ $0 != 0x30 || whole.count == 1 }) == true else {
        return
      }
      rest = rest[whole.endIndex...]
      var digits = Array(whole)
      if rest.first == UInt8(ascii: ".") {
        isInteger = false
        let fraction = rest.dropFirst().prefix { (0x30...0x39).contains($0) }
        guard !fraction.isEmpty else { return }
        digits += fraction
        rest = rest[fraction.endIndex...]
      }
      if let letter = rest.first, letter | 0x20 == UInt8(ascii: "e") {
        isInteger = false
        rest.removeFirst()
        if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest.removeFirst() }
        let exponent = rest.prefix { (0x30...0x39).contains($0) }
        guard !exponent.isEmpty else { return }
        rest = rest[exponent.endIndex...]
      }
      significantDigits = digits.drop { $0 == 0x30 }.count
      isNegativeZero = isNegative && isInteger && significantDigits == 0
      isNumber = rest.isEmpty
    }
  }
}
