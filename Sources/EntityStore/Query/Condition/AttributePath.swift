internal import LodestoreFormat

/// The attributes of an entity, for saying conditions: `{ $0.name.hasPrefix("AF") }`.
@dynamicMemberLookup
public struct AttributePaths<E: Entity>: Sendable {
  /// The attribute at `keyPath`.
  public subscript<V>(
    dynamicMember keyPath: any KeyPath<E, V> & Sendable
  ) -> AttributePath<E, V> {
    AttributePath(keyPath)
  }

  /// The record's id.
  public var id: AttributePath<E, E.ID> { AttributePath(\E.id) }
}

/// An attribute of `E`, or something inside a JSON attribute, as one side of a comparison.
///
/// A property that is no attribute can be used as well: it is read from the decoded entity, which
/// costs that much more, and no index helps.
public struct AttributePath<E: Entity, Value>: Sendable {
  /// Where the value is; `nil` for a property that is no attribute.
  let path: ValuePath?
  let keyPath: (any KeyPath<E, Value> & Sendable)?

  /// The attribute at `keyPath`.
  public init(_ keyPath: any KeyPath<E, Value> & Sendable) {
    self.keyPath = keyPath
    if let position = E.schema.index(of: keyPath) {
      path = ValuePath(attribute: E.schema.attributes[position].name)
    } else if Value.self == E.ID.self {
      // In generic code `\E.id` is not the key path `\Pod.id`, but no other property that is no attribute
      // has the type of the ids.
      path = ValuePath(attribute: BoundAttribute.recordIDName)
    } else {
      path = nil
    }
  }

  init(path: ValuePath?) {
    self.path = path
    keyPath = nil
  }

  /// A comparison with a constant: of the stored value, or of the decoded property.
  func compared(
    _ operator: Comparison.Operator, _ constant: @autoclosure () -> Operand,
    options: TextOptions = [], or test: @escaping @Sendable (Value) -> Bool
  ) -> Condition<E> {
    if let path {
      return Condition(
        .comparison(Comparison(.path(path), `operator`, constant(), options: options)))
    }
    guard let keyPath else { return Condition(.constant(false)) }
    return Condition(
      .closure(
        ConditionClosure(text: "\(text) \(`operator`.canonicalText) …") { (entity: E) in
          test(entity[keyPath: keyPath])
        }))
  }
}

extension AttributePath where Value == JSONValue {
  /// The member `name` of the object, or of each object of the array, that the attribute holds.
  public subscript(name: String) -> AttributePath<E, JSONValue> { inside(.member(name)) }

  /// The element at `index` of the array that the attribute holds.
  public subscript(index: Int) -> AttributePath<E, JSONValue> { inside(.element(index)) }
}

extension AttributePath where Value == JSONValue? {
  /// The member `name` of the object, or of each object of the array, that the attribute holds.
  public subscript(name: String) -> AttributePath<E, JSONValue> { inside(.member(name)) }

  /// The element at `index` of the array that the attribute holds.
  public subscript(index: Int) -> AttributePath<E, JSONValue> { inside(.element(index)) }
}

extension AttributePath where Value == [String: JSONValue] {
  /// The value under the key `name`.
  public subscript(name: String) -> AttributePath<E, JSONValue> { inside(.member(name)) }
}

extension AttributePath where Value == [String: JSONValue]? {
  /// The value under the key `name`.
  public subscript(name: String) -> AttributePath<E, JSONValue> { inside(.member(name)) }
}

extension AttributePath {
  fileprivate func inside(_ step: ValuePath.Step) -> AttributePath<E, JSONValue> {
    AttributePath<E, JSONValue>(path: path.map { ValuePath($0.root, $0.steps + [step]) })
  }

  /// The property, for messages: the name of one that is computed is not known on every system.
  var text: String {
    let text = keyPath.map { "\($0)" } ?? "the path"
    return text.contains("<computed") ? "a computed property (\(Value.self))" : text
  }
}
