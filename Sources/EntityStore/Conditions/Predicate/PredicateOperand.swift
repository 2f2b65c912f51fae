internal import LodestoreFormat

/// A node of a predicate as a side of a comparison.
enum PredicateOperand {
  /// The value is known only when the node's Swift code runs.
  case opaque
  case record
  /// A property of the record that is not an attribute, but may contain one.
  case property(AnyKeyPath)
  case attribute(PredicateAttribute)
  /// An attribute with a constant in place of nil: `$0.attribute ?? constant`.
  case defaulted(PredicateAttribute, Any)
  case constant(Any)

  /// The operand, of type `Bool`, as a condition.
  var asCondition: ConditionTree? {
    switch self {
    case .constant(let value as Bool): .constant(value)
    case .attribute(let attribute) where attribute.type == .bool:
      attribute.compared(.equal, .bool(true))
    case .defaulted(let attribute, let value as Bool) where attribute.type == .bool:
      value ? attribute.compared(.notEqual, .bool(false)) : attribute.compared(.equal, .bool(true))
    default: nil
    }
  }

  /// Returns the operand, of type `Bool?`, as a condition that is `whenNil` for nil.
  func asCondition(whenNil: ConditionTree) -> ConditionTree? {
    switch self {
    case .constant(let value as Bool?): return value.map(ConditionTree.constant) ?? whenNil
    case .attribute(let attribute) where attribute.type == .bool:
      let isTrue = attribute.compared(.equal, .bool(true))
      return switch whenNil {
      case .constant(false): isTrue
      case .constant(true): attribute.compared(.notEqual, .bool(false))
      default: .anyOf([isTrue, .allOf([attribute.isNull, whenNil])])
      }
    default: return nil
    }
  }
}

/// An attribute, or the record's id, in a predicate.
struct PredicateAttribute {
  var name: String
  var type: AttributeType
  var keyPath: AnyKeyPath
  /// Whether the attribute stands for the raw value of the property at the key path.
  var isRawValue = false

  /// The name of the record's id in conditions.
  static let idName = "_id"

  var path: Operand { .path(ValuePath(attribute: name)) }

  /// Whether conditions compare the value as a whole, which they do not for JSON and documents.
  var isScalar: Bool { type != .json && type != .document }

  func compared(_ operator: Comparison.Operator, _ value: Value) -> ConditionTree {
    .comparison(Comparison(path, `operator`, .value(value)))
  }

  var isNull: ConditionTree { compared(.equal, .null) }
  var isNotNull: ConditionTree { compared(.notEqual, .null) }
}
