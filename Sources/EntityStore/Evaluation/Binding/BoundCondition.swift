internal import LodestoreBytes
internal import LodestoreFormat

/// A condition on one entity, with names resolved and types checked.
///
/// A comparison of one attribute with constants is an ``AttributeTest``. The planner can look it up
/// in an index, and the evaluator reads one slot of the record for it. Every other comparison is an
/// expression.
indirect enum BoundCondition: Sendable {
  case constant(Bool)
  case all([BoundCondition])
  case any([BoundCondition])
  case not(BoundCondition)
  case test(AttributeTest)
  case expression(BoundComparison)
  case closure(ConditionClosure)
  case related(RelatedTest)
  case search(BoundSearch)
  case proximity(any BoundProximity)
}

/// An attribute, or the record's id, in a bound condition.
///
/// The type is a class, because copying a plan's condition then copies only references.
final class BoundAttribute: Sendable {
  /// The attribute's number.
  ///
  /// For the record's id, this is a number that no attribute has.
  let number: UInt32
  let name: String
  let type: AttributeType
  let isOptional: Bool
  /// The value in records whose layout does not have the attribute.
  let initial: Value
  let initialDocument: ConstantDocument?

  init(_ attribute: EntityDescription.Attribute) {
    number = attribute.number
    name = attribute.name
    type = attribute.type
    isOptional = attribute.isOptional
    initial = attribute.initial
    initialDocument =
      if case .document(let bytes) = initial { ConstantDocument(bytes) } else { nil }
  }

  /// Creates the attribute that stands for the elements of an element index.
  init(elementsAs type: AttributeType) {
    number = StoredComputedIndex.element
    name = "element"
    self.type = type
    isOptional = false
    initial = .null
    initialDocument = nil
  }

  private init() {
    number = .max
    name = ValuePath.recordIDName
    type = .uint64
    isOptional = false
    initial = .null
    initialDocument = nil
  }

  static let recordID = BoundAttribute()

  var isRecordID: Bool { number == .max }
}

/// A test of one attribute against constants.
///
/// Null passes only ``Kind/null`` and tests that admit it by ``admitsNull``.
struct AttributeTest: Sendable {
  enum Kind: Sendable {
    case null
    /// An interval of numbers, dates or Booleans, mapped by ``OrderedNumber``.
    case interval(NumberInterval)
    case numbers(NumberSet)
    /// A compiled test, with its operator, operand and options.
    case text(TextTest, Comparison.Operator, String, TextOptions)
    /// An interval of data, UUIDs or decimals, compared by the bytes of their index keys.
    case key(KeyInterval)
    /// A list of data, UUIDs, decimals or texts, compared by the bytes of their index keys.
    case keys(KeySet)
  }

  let attribute: BoundAttribute
  let kind: Kind
  /// Whether null passes, since the list of the `IN` contains it.
  var admitsNull = false

  init(_ attribute: BoundAttribute, _ kind: Kind, admitsNull: Bool = false) {
    self.attribute = attribute
    self.kind = kind
    self.admitsNull = admitsNull
  }
}

/// An interval of fixed-width values in the order of ``OrderedNumber``, including both ends.
struct NumberInterval: Sendable, Hashable {
  var low: Int64
  var high: Int64

  static let empty = NumberInterval(low: .max, high: .min)

  var isEmpty: Bool { low > high }

  func intersection(_ other: NumberInterval) -> NumberInterval {
    NumberInterval(low: max(low, other.low), high: min(high, other.high))
  }
}

/// Index key elements between two bounds, each of which may be absent.
struct KeyInterval: Sendable, Hashable {
  struct Bound: Sendable, Hashable {
    var element: [UInt8]
    var isIncluded: Bool
  }

  var lower: Bound?
  var upper: Bound?

  func admits(_ element: ByteView) -> Bool {
    if let lower {
      let order = lower.element._withBytes { compareKeys(element, $0) }
      guard lower.isIncluded ? order >= 0 : order > 0 else { return false }
    }
    if let upper {
      let order = upper.element._withBytes { compareKeys(element, $0) }
      guard upper.isIncluded ? order <= 0 : order < 0 else { return false }
    }
    return true
  }
}

/// A comparison of expressions, which reads more than one slot of a record.
struct BoundComparison: Sendable {
  var quantifier: Comparison.Quantifier?
  var left: BoundOperand
  var `operator`: Comparison.Operator
  var options: TextOptions
  var right: BoundOperand
  /// The compiled right side of a text operator, if it is constant.
  var pattern: TextTest?
  /// The test that an element index can answer, if there is one.
  var elements: BoundElements?
  /// The comparison's text, shown in plans.
  var text: String
}

/// A test of the elements at a path in a document, for an element index.
///
/// The comparison is true only for records with an element that passes the test.
struct BoundElements: Sendable {
  /// The attribute's number.
  var attribute: UInt32
  var path: [String]
  /// The test of one element, on the attribute ``StoredElementIndex/element``.
  var test: AttributeTest
  /// Whether the comparison is true for all records with an element that passes the test.
  ///
  /// If false, each record found must be checked.
  var isExact: Bool
}

/// One side of a ``BoundComparison``.
indirect enum BoundOperand: Sendable {
  case value(Value)
  case document(ConstantDocument)
  case list([BoundOperand])
  /// An attribute of the record, and the steps into its document.
  case attribute(BoundAttribute, [ValuePath.Step])
  /// The element that a SUBQUERY tests, and the steps into it.
  ///
  /// `depth` is the number of SUBQUERYs between the one that declares the element and this operand.
  case element(depth: Int, [ValuePath.Step])
  case arithmetic(ArithmeticOperator, BoundOperand, BoundOperand)
  case negative(BoundOperand)
  case conditional(BoundCondition, BoundOperand, BoundOperand)
  case subquery(BoundOperand, BoundCondition, [ValuePath.Step])
  case cast(BoundOperand, CastType)
  case call(OperandFunction, [BoundOperand])
  case datePart(CalendarPart, BoundOperand, ZoneRules)
  /// A value computed from related records.
  case related(RelatedOperand)
  /// The score of the record in a search.
  case score(BoundSearch)
  /// The distance of the record from the place or vector of a `NEAR`.
  case distance(any BoundProximity)
}

// MARK: Parts of a condition

/// A bound condition, or one side of a comparison.
protocol BoundExpression {
  /// Returns whether `isSought` is true for a part of the expression.
  ///
  /// A condition on related records counts as one part, and its own parts are not visited.
  func has(_ isSought: (BoundPart) -> Bool) -> Bool
}

extension BoundExpression {
  /// Whether the expression depends on other records than the tested one.
  var readsOtherRecords: Bool { has { if case .related = $0 { true } else { false } } }

  /// Whether the value for an unchanged record can differ from one time to another.
  var dependsOnTime: Bool { has { $0.isTime } }
}

extension BoundCondition: BoundExpression {
  /// The numbers of the tested record's attributes that the condition reads.
  var attributeNumbers: Set<UInt32> {
    var numbers: Set<UInt32> = []
    _ = has { part in
      switch part {
      case .attribute(let attribute), .operand(.attribute(let attribute, _)):
        numbers.insert(attribute.number)
      case .search(let search): numbers.formUnion(search.index.attributes)
      case .proximity(let place): numbers.formUnion(place.index.attributes)
      case .operand, .closure, .related: break
      }
      return false
    }
    return numbers
  }

  /// Returns whether the record's id and the attributes with `numbers` alone decide the condition.
  func isDecided(by numbers: Set<UInt32>) -> Bool {
    func isOther(_ attribute: BoundAttribute) -> Bool {
      !attribute.isRecordID && !numbers.contains(attribute.number)
    }
    return !has { part in
      switch part {
      case .attribute(let attribute), .operand(.attribute(let attribute, _)): isOther(attribute)
      case .closure, .related, .search, .proximity: true
      case .operand: false
      }
    }
  }

  func has(_ isSought: (BoundPart) -> Bool) -> Bool {
    switch self {
    case .constant: false
    case .test(let test): isSought(.attribute(test.attribute))
    case .closure: isSought(.closure)
    case .search(let search): isSought(.search(search))
    case .proximity(let place): isSought(.proximity(place))
    case .all(let parts), .any(let parts): parts.contains { $0.has(isSought) }
    case .not(let part): part.has(isSought)
    case .expression(let comparison):
      comparison.left.has(isSought) || comparison.right.has(isSought)
    case .related(let test): isSought(.related(test.end, test.condition, nil))
    }
  }
}

extension BoundOperand: BoundExpression {
  func has(_ isSought: (BoundPart) -> Bool) -> Bool {
    if isSought(.operand(self)) { return true }
    return switch self {
    case .value, .document, .attribute, .element: false
    case .score(let search): isSought(.search(search))
    case .distance(let place): isSought(.proximity(place))
    case .list(let parts), .call(_, let parts): parts.contains { $0.has(isSought) }
    case .arithmetic(_, let left, let right): left.has(isSought) || right.has(isSought)
    case .negative(let inner), .cast(let inner, _), .datePart(_, let inner, _): inner.has(isSought)
    case .conditional(let condition, let one, let other):
      condition.has(isSought) || one.has(isSought) || other.has(isSought)
    case .subquery(let list, let condition, _): list.has(isSought) || condition.has(isSought)
    case .related(let related):
      isSought(.related(related.end, related.condition, related.question.operand))
    }
  }
}

/// A part of a condition, for searches with ``BoundExpression/has(_:)``.
enum BoundPart {
  case operand(BoundOperand)
  /// The attribute of a test.
  case attribute(BoundAttribute)
  /// A test by a closure of the program.
  case closure
  /// A search of words.
  case search(BoundSearch)
  /// A condition on the record's place or vector, or its distance.
  case proximity(any BoundProximity)
  /// A relationship, the condition on the related records, and the operand that is evaluated on
  /// each of them.
  case related(RelationshipEnd, BoundCondition?, BoundOperand?)

  fileprivate var isTime: Bool {
    switch self {
    case .operand(.call(.now, _)): true
    case .operand, .attribute, .closure, .search, .proximity: false
    case .related(_, let condition, let operand):
      condition?.dependsOnTime == true || operand?.dependsOnTime == true
    }
  }
}
