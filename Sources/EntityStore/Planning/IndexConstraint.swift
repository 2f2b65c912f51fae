internal import LMDB
internal import LodestoreFormat

/// A condition on one attribute, as ranges of index keys.
struct IndexConstraint {
  enum Extent {
    /// Single values, as elements of keys, ascending.
    case points(PackedKeys)
    case range(IndexRange)
    /// Ranges of keys, ascending and disjoint.
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
  /// Whether all entries within the extent fulfil the condition.
  ///
  /// If false, the condition is also checked for each entry.
  var isExact = true

  /// Creates the constraint for a condition on `attribute`; `nil` if an index does not help.
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
      let low = PackedKeys.element(OrderedNumber.value(interval.low, type))
      let high = PackedKeys.element(OrderedNumber.value(interval.high, type))
      self.init(extent: low == high ? .points(PackedKeys(low)) : .range(Self.closed(low, high)))
    case .numbers(let set): self.init(extent: .points(Self.elements(of: set, type, above: null)))
    case .keys(let set): self.init(extent: .points(null.isEmpty ? set.keys : null.above(set.keys)))
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
    let element = PackedKeys.element(.string(operand))
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
    case .endsWith, .contains, .notEqual, .between, .in, .search, .searchAny, .searchPrefix,
      .within, .near:
      return nil
    }
  }

  /// Creates the constraint to keys that begin with the bytes of `prefix`.
  ///
  /// The constraint is not exact. A combining mark after the prefix belongs to its last character,
  /// so such a text does not begin with the prefix.
  private init(prefix: String) {
    let bytes = Self.beginning(prefix)
    self.init(
      extent: .range(IndexRange(lower: bytes, upper: KeyRange.successor(ofPrefix: bytes))),
      isExact: false)
  }

  /// Returns the part of a literal that the keys of all texts beginning with it share.
  ///
  /// The last character is left out if a mark after it could change it into another character.
  private static func certainBeginning(of literal: String) -> String {
    // The last character stays only if it is one that Unicode composes with no following mark.
    let isCertain =
      literal.unicodeScalars.last.map {
        (0x20..<0x7f).contains($0.value) && !$0.properties.isAlphabetic
          && !"<=>".contains(Character($0))
      } ?? false
    return isCertain ? literal : String(literal.dropLast())
  }

  /// Returns the key element of a text without its final zero byte, so that elements of longer
  /// texts begin with it.
  static func beginning(_ text: String) -> [UInt8] {
    PackedKeys.element(.string(text)).dropLast()
  }

  /// Returns the constraint that admits the values which both constraints admit.
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

  /// Returns the elements of `lower` followed by those of the numbers in `set`.
  private static func elements(
    of set: NumberSet, _ type: AttributeType, above lower: PackedKeys
  ) -> PackedKeys {
    var elements = lower
    var encoder = KeyEncoder()
    for key in set.sorted {
      encoder.reset()
      do { try encoder.append(OrderedNumber.value(key, type)) } catch { continue }
      // −0 and 0 are adjacent and have the same key.
      if !elements.ends(with: encoder.bytes) { elements.append(encoder.bytes) }
    }
    return elements
  }

  private static func closed(_ low: [UInt8], _ high: [UInt8]) -> IndexRange {
    IndexRange(lower: low, upper: high + [255])
  }
}
