internal import LodestoreFormat

/// The operand of an ``Attribute`` that stands for a computed or nested value.
private final class DerivedOperand: DerivedAttribute, @unchecked Sendable {
  let operand: Operand
  /// The reason why the operand cannot be used, if there is one.
  let failure: StoreError?

  init(_ operand: Operand, _ failure: StoreError? = nil) {
    self.operand = operand
    self.failure = failure
  }
}

extension Attribute {
  /// The path to the stored value; `nil` if the attribute stands for a computed value.
  var path: ValuePath? {
    if let derivedOperand {
      if case .path(let path) = derivedOperand { return path }
      return nil
    }
    return ValuePath(attribute: attributeName)
  }

  private var derivedOperand: Operand? { (derived as? DerivedOperand)?.operand }

  /// The operand that stands for the attribute in a condition.
  var operand: Operand { derivedOperand ?? .path(ValuePath(attribute: attributeName)) }

  /// The reason why conditions with the attribute cannot be used, if there is one.
  var failure: StoreError? { (derived as? DerivedOperand)?.failure }

  /// Creates an attribute for a value that is computed from a record.
  init(deriving operand: Operand, failure: StoreError? = nil) where Value: AttributeValue {
    self.init(-1, ScalarCoding<Value>.self, derived: DerivedOperand(operand, failure))
  }

  /// The stored attribute's name in the schema.
  var attributeName: String {
    guard ordinal >= 0 else { return ValuePath.recordIDName }
    let attributes = E.schema.attributes
    precondition(
      ordinal < attributes.count,
      "\(E.schema.name) has \(attributes.count) attributes, and its Attributes name number \(ordinal)"
    )
    return attributes[ordinal].name
  }

  /// Converts a value from a group, an aggregate or a section to the attribute's type, or returns
  /// `nil` if the type cannot hold it.
  ///
  /// Computed numbers may have another width or kind than the type. The sum of no records, for
  /// example, is an integer even where other sums are doubles.
  func loaded(_ value: LodestoreFormat.Value) -> Value? {
    guard derived != nil else { return coding.load(StoredValue(value)) }
    let type = coding.storage.type
    guard type != .json, type != .document else { return coding.load(StoredValue(value)) }
    return coding.load(StoredValue(DynamicValue(value).stored(in: type) ?? value))
  }

  /// Returns an attribute for another value that is computed from this one.
  func deriving<V: AttributeValue>(_ operand: Operand) -> Attribute<E, V> {
    Attribute<E, V>(ordinal, ScalarCoding<V>.self, derived: DerivedOperand(operand, failure))
  }

  /// Returns the attribute for a member or an element of the value.
  func inside(_ step: ValuePath.Step) -> Attribute<E, JSONValue> {
    guard let path else { return deriving(operand) }
    return deriving(.path(ValuePath(path.root, path.steps + [step])))
  }
}
