internal import LMDB
internal import LodestoreFormat

/// A condition on one attribute, as ranges of index keys.
struct IndexConstraint {
  enum Extent {
    /// Elements of keys, ascending.
    case points(PackedKeys)
    case range(IndexRange)
    /// Ascending and disjoint.
    case ranges([IndexRange])

    var ranges: [IndexRange] {
      switch self {
      case .points(let points): points.ranges
      case .range(let range): [range]
      case .ranges(let ranges): ranges
      }
    }
  }

  var extent: Extent
  /// Whether all entries within the extent fulfil the condition; otherwise it is checked on each.
  var isExact = true

  /// The constraint of a condition on `attribute`; `nil` where an index does not help.
  init?(_ condition: BoundCondition, on attribute: UInt32) {
    switch condition {
    case .test(let test) where test.attribute.number == attribute: self.init(test)
    case .not(.test(let test)) where test.attribute.number == attribute:
      guard case .null = test.kind else { return nil }
      self.init(extent: .range(IndexRange(lower: [0, 255], upper: nil)))
    default: return nil
    }
  }

  init(extent: Extent, isExact: Bool = true) {
    self.extent = extent
    self.isExact = isExact
  }

  private init?(_ test: AttributeTest) {
    var null = PackedKeys()
    if test.admitsNull { null.append([0]) }
    let type = test.attribute.type
    switch test.kind {
    case .null: self.init(extent: .points(PackedKeys([0])))
    case .interval(let interval):
      if interval.isEmpty {
        self.init(extent: .points(PackedKeys()))
        return
      }
      let low = Self.element(OrderedNumber.value(interval.low, type))
      let high = Self.element(OrderedNumber.value(interval.high, type))
      self.init(extent: low == high ? .points(PackedKeys(low)) : .range(Self.closed(low, high)))
    case .numbers(let set):
      self.init(extent: .points(Self.elements(of: set, type, above: null)))
    case .keys(let set):
      self.init(extent: .points(null.isEmpty ? set.keys : null.above(set.keys)))
    case .key(let interval):
      let low = interval.lower.map { $0.isIncluded ? $0.element : $0.element + [255] }
      let high = interval.upper.map { $0.isIncluded ? $0.element + [255] : $0.element }
      self.init(extent: .range(IndexRange(lower: low ?? [0, 255], upper: high)))
    case .text(_, let `operator`, let operand, let options):
      guard options.isEmpty else { return nil }
      self.init(`operator`, operand)
    }
  }

  private init?(_ operator: Comparison.Operator, _ operand: String) {
    let element = Self.element(.string(operand))
    switch `operator` {
    case .equal: self.init(extent: .points(PackedKeys(element)))
    case .less: self.init(extent: .range(IndexRange(lower: [0, 255], upper: element)))
    case .lessOrEqual:
      self.init(extent: .range(IndexRange(lower: [0, 255], upper: element + [255])))
    case .greater: self.init(extent: .range(IndexRange(lower: element + [255], upper: nil)))
    case .greaterOrEqual: self.init(extent: .range(IndexRange(lower: element, upper: nil)))
    case .beginsWith: self.init(prefix: operand)
    case .like:
      let literal = operand.prefix { !"?*\\".contains($0) }
      guard !literal.isEmpty else { return nil }
      self.init(prefix: String(literal))
    case .matches:
      var parser = try? ExpressionParser(operand, isCaseless: false)
      guard let literal = (try? parser?.parse())?.literalPrefix,
        literal.utf8.count > 1
      else { return nil }
      self.init(prefix: Self.certainBeginning(of: literal))
    case .endsWith, .contains, .notEqual, .between, .in: return nil
    }
  }

  /// The keys that begin with the bytes of `prefix`.
  ///
  /// A combining mark after the prefix belongs to its last character, so that the text does not
  /// begin with the prefix.
  private init(prefix: String) {
    let bytes = Self.beginning(prefix)
    self.init(
      extent: .range(IndexRange(lower: bytes, upper: KeyRange.successor(ofPrefix: bytes))),
      isExact: false)
  }

  /// The part of a literal that every key of a text with it begins with: its last character may
  /// become another one with a mark behind it.
  private static func certainBeginning(of literal: String) -> String {
    // In Unicode's compositions these are no first characters.
    let isCertain =
      literal.unicodeScalars.last.map {
        (0x20..<0x7f).contains($0.value) && !$0.properties.isAlphabetic
          && !"<=>".contains(Character($0))
      } ?? false
    return isCertain ? literal : String(literal.dropLast())
  }

  /// The element of a text without the zero byte that ends it.
  static func beginning(_ text: String) -> [UInt8] { element(.string(text)).dropLast() }

  /// Both constraints at once.
  func intersection(_ other: IndexConstraint) -> IndexConstraint {
    let both: Extent =
      switch (extent, other.extent) {
      case (.range(let a), .range(let b)): .range(a.intersection(b))
      case (.points(let a), .points(let b)): .points(a.filter(KeyTable(b).contains))
      case (.points(let points), let other), (let other, .points(let points)):
        .points(points.within(other.ranges))
      case (let a, let b): .ranges(Self.intersection(a.ranges, b.ranges))
      }
    return IndexConstraint(extent: both, isExact: isExact && other.isExact)
  }

  /// The elements of the numbers in `set`, above those of `lower`.
  private static func elements(
    of set: NumberSet, _ type: AttributeType, above lower: PackedKeys
  ) -> PackedKeys {
    var elements = lower
    var encoder = KeyEncoder()
    for key in set.sorted {
      encoder.reset()
      do { try encoder.append(OrderedNumber.value(key, type)) } catch { continue }
      // Both zeros have one key, and come next to each other.
      if !elements.ends(with: encoder.bytes) { elements.append(encoder.bytes) }
    }
    return elements
  }

  private static func closed(_ low: [UInt8], _ high: [UInt8]) -> IndexRange {
    IndexRange(lower: low, upper: high + [255])
  }

  /// The element of a value; the values of tests always have one.
  static func element(_ value: Value) -> [UInt8] {
    var encoder = KeyEncoder()
    do { try encoder.append(value) } catch { return [0] }
    return Array(encoder.bytes)
  }
}
