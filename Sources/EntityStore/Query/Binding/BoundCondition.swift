internal import LodestoreBytes
internal import LodestoreFormat

/// A condition whose names are resolved and whose types fit, for one entity.
///
/// A comparison of one attribute with constants is an ``AttributeTest``: the planner can look it up
/// in an index, and the evaluator reads one slot of the record for it. Everything else is an
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
}

/// An attribute, or the record's id, in a bound condition.
///
/// A class, as plans copy their conditions.
final class BoundAttribute: Sendable {
  /// The attribute's number; of the record's id, one that no attribute has.
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

  /// The elements of an index over them, as those of a type.
  init(elementsAs type: AttributeType) {
    number = StoredElementIndex.element
    name = "element"
    self.type = type
    isOptional = false
    initial = .null
    initialDocument = nil
  }

  private init() {
    number = .max
    name = Self.recordIDName
    type = .uint64
    isOptional = false
    initial = .null
    initialDocument = nil
  }

  /// The name of the record's id in conditions.
  static let recordIDName = "_id"
  static let recordID = BoundAttribute()

  var isRecordID: Bool { number == .max }
}

/// A test of one attribute against constants.
///
/// Null fails every test but ``Kind/null`` and the sets that hold it.
struct AttributeTest: Sendable {
  enum Kind: Sendable {
    case null
    /// Numbers, dates and Booleans, by ``OrderedNumber``.
    case interval(NumberInterval)
    case numbers(NumberSet)
    /// A compiled test, with its operator, operand and options.
    case text(TextTest, Comparison.Operator, String, TextOptions)
    /// Data, UUIDs and decimals, by the bytes of their index keys.
    case key(KeyInterval)
    /// Data, UUIDs, decimals and text, in a list.
    case keys(KeySet)
  }

  let attribute: BoundAttribute
  let kind: Kind
  /// Whether null passes: an IN whose list has it.
  var admitsNull = false

  init(_ attribute: BoundAttribute, _ kind: Kind, admitsNull: Bool = false) {
    self.attribute = attribute
    self.kind = kind
    self.admitsNull = admitsNull
  }
}

/// Fixed-width values in the order of ``OrderedNumber``, both ends included.
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

/// A comparison of expressions, which takes more than one slot of a record.
struct BoundComparison: Sendable {
  var quantifier: Comparison.Quantifier?
  var left: BoundOperand
  var `operator`: Comparison.Operator
  var options: TextOptions
  var right: BoundOperand
  /// The right side of a text operator, compiled, when it is constant.
  var pattern: TextTest?
  /// The test that an index over elements has entries for.
  var elements: BoundElements?
  /// As written, for plans.
  var text: String
}

/// That one of the elements which a path leads to passes a test, or may pass it.
struct BoundElements: Sendable {
  /// The attribute's number.
  var attribute: UInt32
  var path: [String]
  /// Of an element, as ``StoredElementIndex/element``.
  var test: AttributeTest
  /// Whether records with such an element are exactly those for which the comparison is true.
  var isExact: Bool
}

/// One side of a ``BoundComparison``.
indirect enum BoundOperand: Sendable {
  case value(Value)
  case document(ConstantDocument)
  case list([BoundOperand])
  /// The record's attribute, and steps into a document.
  case attribute(BoundAttribute, [ValuePath.Step])
  /// The element that a SUBQUERY tests: how many SUBQUERYs are nested between it and here, and
  /// steps.
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
}

// MARK: What it depends on

/// A condition, or a side of a comparison.
protocol BoundExpression {
  /// Whether one of its parts is sought; those on related records are in one part.
  func has(_ isSought: (BoundPart) -> Bool) -> Bool
}

extension BoundExpression {
  /// Whether it depends on other records than the one that is tested.
  var looksAtOthers: Bool { has { if case .related = $0 { true } else { false } } }

  /// Whether it may have one value for a record at one time and another later.
  var dependsOnTime: Bool { has { $0.isTime } }
}

extension BoundCondition: BoundExpression {
  /// The numbers of the attributes of the tested record that it reads.
  var attributeNumbers: Set<UInt32> {
    var numbers: Set<UInt32> = []
    _ = has { part in
      switch part {
      case .attribute(let attribute), .operand(.attribute(let attribute, _)):
        numbers.insert(attribute.number)
      case .operand, .closure, .related: break
      }
      return false
    }
    return numbers
  }

  /// Whether the record's id and the attributes with `numbers` alone decide it.
  func isDecided(by numbers: Set<UInt32>) -> Bool {
    func isOther(_ attribute: BoundAttribute) -> Bool {
      !attribute.isRecordID && !numbers.contains(attribute.number)
    }
    return !has { part in
      switch part {
      case .attribute(let attribute), .operand(.attribute(let attribute, _)): isOther(attribute)
      case .closure, .related: true
      case .operand: false
      }
    }
  }

  func has(_ isSought: (BoundPart) -> Bool) -> Bool {
    switch self {
    case .constant: false
    case .test(let test): isSought(.attribute(test.attribute))
    case .closure: isSought(.closure)
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
    case .list(let parts), .call(_, let parts): parts.contains { $0.has(isSought) }
    case .arithmetic(_, let left, let right): left.has(isSought) || right.has(isSought)
    case .negative(let inner), .cast(let inner, _), .datePart(_, let inner, _):
      inner.has(isSought)
    case .conditional(let condition, let one, let other):
      condition.has(isSought) || one.has(isSought) || other.has(isSought)
    case .subquery(let list, let condition, _): list.has(isSought) || condition.has(isSought)
    case .related(let related):
      isSought(.related(related.end, related.condition, related.question.operand))
    }
  }
}

/// A part of a condition that may be sought.
enum BoundPart {
  case operand(BoundOperand)
  /// The attribute of a test.
  case attribute(BoundAttribute)
  /// The test by a program's function.
  case closure
  /// A condition on related records, and the value of each of them that is asked for.
  case related(RelationshipEnd, BoundCondition?, BoundOperand?)

  fileprivate var isTime: Bool {
    switch self {
    case .operand(.call(.now, _)): true
    case .operand, .attribute, .closure: false
    case .related(_, let condition, let operand):
      condition?.dependsOnTime == true || operand?.dependsOnTime == true
    }
  }
}
