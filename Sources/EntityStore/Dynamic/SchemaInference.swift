internal import LodestoreBytes
package import LodestoreFormat

/// Infers the attributes of an entity from records that will be imported into it.
///
/// The type of a JSON member is bool, int64, uint64, double or string when all its values have this
/// type. Values of different types, arrays and objects are JSON. Integers and other numbers
/// together are double if a double represents each integer exactly. Numbers are decimal when an
/// integer has more than 64 bits, or a number is out of the range of a double. A JSON string that
/// looks like a date stays a string.
///
/// A column of separated values contains only texts. Its type is the type as which all of them can
/// be read: see ``TextForm``. A column with texts of different types is string. A member is
/// optional when it is absent or null in a record.
package struct SchemaInference {
  /// The error for a record with more different members than an entity can have attributes.
  package struct TooManyMembers: Error {}

  private struct Member {
    var kinds: Kinds = []
    var presentCount = 0
    var integersAreDoubles = true
    var numbersAreDecimals = true
    /// The lowest whole number of the member, at most 0, and the highest one, at least 0.
    var least = Int64(0)
    var greatest = UInt64(0)
    var hasFractions = false
    /// Whether a `Float` represents all numbers.
    var numbersAreFloats = true
    /// Whether some values came from JSON.
    var isOfJSON = false
    /// Whether some values came from separated values.
    var isOfTexts = false
    /// Whether a record has a member of this name, and not only a value at this path.
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
  /// The members, in the order of their first occurrence.
  package private(set) var names: [String] = []
  /// The number of observed records.
  package private(set) var recordCount = 0
  /// The reason why the first value that is not a record was skipped; nil without such a value.
  package private(set) var rejection: String?
  /// Whether the type of a member was inferred from texts of separated values.
  package private(set) var hasReadTexts = false

  /// The paths into members, such as `license.type`, that a person mapped.
  ///
  /// A type is inferred for each of them as for a member.
  private let paths: [String]
  /// The members that are followed by paths, and are not attributes themselves.
  private let roots: Set<String>
  private let readsTexts: Bool
  /// Whether numbers are compared with the ranges of types.
  ///
  /// The entity then has stored attributes, whose types may be too narrow for the imported numbers.
  private let comparesRanges: Bool
  /// The maximum number of different members.
  private let limit: Int
  private var isOverLimit = false

  /// - Parameters:
  ///   - mapped: the member names that a person mapped; paths among them are followed.
  ///   - readsTexts: whether columns of separated values get the types of their texts; otherwise
  ///     they are strings.
  ///   - stored: the number of the entity's attributes, whose members do not count as new ones.
  package init(mapped: [String] = [], readsTexts: Bool = true, stored: Int = 0) {
    paths = mapped.filter(MemberPath.isPath).sorted()
    roots = Set(paths.map(MemberPath.root)).subtracting(mapped)
    self.readsTexts = readsTexts
    comparesRanges = stored > 0
    limit = DeclaredEntity.mostAttributes + stored
  }

  /// Observes one record; skips a value that is not a record, which the import rejects.
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

  private mutating func observe(_ name: String, _ node: JSONNode, isOfTexts: Bool, isMember: Bool) {
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

  /// Adds a member and returns its index; returns nil when there are too many members.
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
    // A number with few digits within the range of a double is always a valid decimal.
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
    // Once one text can be read only as a string, the type of the member is string, and further
    // texts need no examination.
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

  /// Returns whether a record has a member of this name, and not only a value at this path.
  package func isMember(_ name: String) -> Bool {
    indexByName[name].map { members[$0].isMember } ?? false
  }

  /// The number type that an attribute needs to hold all values of a member.
  ///
  /// Returns `nil` when `type` can hold all values, and when no number type can hold them.
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
      // JSON numbers with a fraction are treated as doubles, unless a number is out of range.
      let isExact = !member.isOfJSON || !member.kinds.contains(.double) || needsDecimal
      if isExact, member.numbersAreDecimals { return .decimal }
    }
    return member.isOfJSON ? .json : .string
  }
}

/// The type as which a text of separated values can be read without losing a significant character.
///
/// - Integers and numbers are written as in JSON, or as `.5`. A text with a leading zero or plus
///   stays a text: it may be an id, a postcode or a telephone number.
/// - A number whose digits a double does not preserve is a decimal.
/// - `true` and `false` in upper or lower case are Booleans; `1`, `0`, `yes` and `no` are not.
/// - A date begins as `2024-01-05` and is a date of ISO 8601. The seconds have up to six decimals,
///   and fewer far from 2001, where a double holds fewer.
enum TextForm: Equatable {
  case integer(Int64)
  case unsigned(UInt64)
  /// A number; `isDouble` tells whether a double preserves all of its digits.
  case number(isDouble: Bool)
  case bool
  case date
  case text

  init(_ text: String) {
    var text = text
    self = text.withUTF8 { Self.form(ByteView($0)) } ?? Self.numberOrDate(text)
  }

  /// The form that the first characters determine; nil when the text may be a number or a date.
  private static func form(_ bytes: ByteView) -> TextForm? {
    guard let first = bytes.first else { return .text }
    if first == UInt8(ascii: "-") || first == UInt8(ascii: ".") { return nil }
    if (0x30...0x39).contains(first) { return nil }
    for word in ["true", "false"] where bytes.count == word.utf8.count {
      // Setting this bit turns an ASCII capital letter into a small one, so the comparison ignores
      // case.
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
    // A double always preserves fifteen digits.
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
    // A date is stored as a double, which holds microseconds near our time and fewer decimals far
    // from it. A text with more decimals stays a string.
    let decimals = Self.decimals(of: text)
    guard decimals.utf8.count <= 6 else { return false }
    return decimals.isEmpty || ISO8601Text.text(date).map { Self.decimals(of: $0) } == decimals
  }

  /// The decimals of a second in the text of a date, without trailing zeros.
  private static func decimals(of text: String) -> Substring {
    let bytes = text.utf8
    let point = bytes.firstIndex { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: ",") }
    guard let point else { return "" }
    var decimals = bytes[point...].dropFirst().prefix { (0x30...0x39).contains($0) }
    while decimals.last == 0x30 { decimals.removeLast() }
    return Substring(decimals)
  }

  /// A scan of a number in JSON's notation, also without the zero before the point.
  private struct NumberScan {
    var isNumber = false
    var isInteger = true
    var isNegativeZero = false
    /// The number of digits without leading zeros.
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
