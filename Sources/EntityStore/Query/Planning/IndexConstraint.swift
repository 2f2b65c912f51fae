internal import LMDB
internal import LodestoreFormat

/// A condition on one attribute, as ranges of index keys.
struct IndexConstraint {
  /// Which of the entries within the constraint fulfil the condition.
  enum Exactness {
    /// All of them, and no others.
    case exact
    /// Those in which an ASCII byte follows the prefix in the key; of others only the record tells.
    case exactBeforeASCII
    /// Only the record tells.
    case superset

    /// The exactness of two constraints together.
    func joined(_ other: Exactness) -> Exactness {
      self == .exact ? other : other == .exact ? self : .superset
    }
  }

  enum Extent {
    /// Elements of keys, ascending.
    case points(PackedKeys)
    case range(IndexRange)
    /// Ascending and disjoint.
    case ranges([IndexRange])
  }

  var extent: Extent
  var exactness = Exactness.exact

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

  init(extent: Extent, exactness: Exactness = .exact) {
    self.extent = extent
    self.exactness = exactness
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
      // Both zeros have one key, and come next to each other.
      var elements = null
      var last: [UInt8] = []
      for key in set.sorted {
        let element = Self.element(OrderedNumber.value(key, type))
        if last != element { elements.append(element) }
        last = element
      }
      self.init(extent: .points(elements))
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
    case .beginsWith: self.init(prefix: operand, isWholeCondition: true)
    case .like:
      let literal = operand.prefix { !"?*\\".contains($0) }
      guard !literal.isEmpty else { return nil }
      self.init(prefix: String(literal), isWholeCondition: false)
    case .matches:
      var parser = try? ExpressionParser(operand, isCaseless: false)
      guard let literal = (try? parser?.parse())?.literalPrefix, literal.utf8.count > 1 else {
        return nil
      }
      // Behind its last character there may be a mark, with which that is another character.
      self.init(prefix: String(literal.dropLast()), isWholeCondition: false)
    case .endsWith, .contains, .notEqual, .between, .in: return nil
    }
  }

  /// The keys that begin with the bytes of `prefix`.
  ///
  /// A combining mark after the prefix belongs to its last
  /// character, so that the text does not begin with the prefix; an ASCII byte is no mark.
  private init(prefix: String, isWholeCondition: Bool) {
    // The element without the zero byte that ends it.
    let bytes = Array(Self.element(.string(prefix)).dropLast())
    let isPlain = prefix.utf8.allSatisfy { $0 < 0x80 && $0 != 0x0d }
    self.init(
      extent: .range(IndexRange(lower: bytes, upper: KeyRange.successor(ofPrefix: bytes))),
      exactness: isWholeCondition && isPlain ? .exactBeforeASCII : .superset)
  }

  /// Both constraints at once.
  func intersection(_ other: IndexConstraint) -> IndexConstraint {
    // The lower bound of the intersection need not be the prefix any more.
    let exactness: Exactness =
      self.exactness == .exact && other.exactness == .exact ? .exact : .superset
    switch (extent, other.extent) {
    case (.range(let a), .range(let b)):
      return IndexConstraint(extent: .range(a.intersection(b)), exactness: exactness)
    case (.ranges(let ranges), .range(let range)), (.range(let range), .ranges(let ranges)):
      return IndexConstraint(
        extent: .ranges(Self.intersection(ranges, [range])), exactness: exactness)
    case (.ranges(let a), .ranges(let b)):
      return IndexConstraint(extent: .ranges(Self.intersection(a, b)), exactness: exactness)
    case (.points(let points), .ranges(let ranges)), (.ranges(let ranges), .points(let points)):
      return IndexConstraint(
        extent: .points(points.filter { point in ranges.contains { $0.admits(point) } }),
        exactness: exactness)
    case (.points(let points), .range(let range)), (.range(let range), .points(let points)):
      return IndexConstraint(
        extent: .points(points.filter { range.admits(Array($0)) }), exactness: exactness)
    case (.points(let a), .points(let b)):
      let wanted = KeyTable(b)
      return IndexConstraint(
        extent: .points(a.filter { wanted.contains($0) }), exactness: exactness)
    }
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
