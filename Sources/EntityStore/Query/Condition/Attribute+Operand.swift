internal import LodestoreFormat

/// An operand that begins at an attribute.
private final class DerivedOperand: DerivedAttribute, @unchecked Sendable {
  let operand: Operand
  /// Why it cannot be used.
  let failure: StoreError?

  init(_ operand: Operand, _ failure: StoreError? = nil) {
    self.operand = operand
    self.failure = failure
  }
}

extension Attribute {
  /// The way to the stored value; `nil` where something is computed from it.
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

  /// Why conditions with it cannot be used; `nil` where they can.
  var failure: StoreError? { (derived as? DerivedOperand)?.failure }

  /// A value that is computed from a record and has no attribute of its own.
  init(deriving operand: Operand, failure: StoreError? = nil) where Value: AttributeValue {
    self.init(-1, ScalarCoding<Value>.self, derived: DerivedOperand(operand, failure))
  }

  /// The stored attribute's name in the schema.
  var attributeName: String {
    guard ordinal >= 0 else { return BoundAttribute.recordIDName }
    let attributes = E.schema.attributes
    precondition(
      ordinal < attributes.count,
      "\(E.schema.name) has \(attributes.count) attributes, and its Attributes name number \(ordinal)"
    )
    return attributes[ordinal].name
  }

  /// The attribute's value from a value that a group, an aggregate or a section has of it; `nil`
  /// where the type does not hold it.
  ///
  /// Computed numbers may have another width or kind than the type, as an integer sum of no records
  /// has where others are doubles.
  func loaded(_ value: LodestoreFormat.Value) -> Value? {
    guard derived != nil else { return coding.load(StoredValue(value)) }
    let type = coding.storage.type
    guard type != .json, type != .document else { return coding.load(StoredValue(value)) }
    return coding.load(StoredValue(DynamicValue(value).stored(in: type) ?? value))
  }

  /// Another value that is computed from this one.
  func deriving<V: AttributeValue>(_ operand: Operand) -> Attribute<E, V> {
    Attribute<E, V>(ordinal, ScalarCoding<V>.self, derived: DerivedOperand(operand, failure))
  }

  /// A member or an element of the value.
  func inside(_ step: ValuePath.Step) -> Attribute<E, JSONValue> {
    guard let path else { return deriving(operand) }
    return deriving(.path(ValuePath(path.root, path.steps + [step])))
  }
}
