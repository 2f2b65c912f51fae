internal import LodestoreFormat

/// The assignments of an update, written by the closure of
/// ``WriteTransaction/update(_:onProgress:_:)``.
///
///     try tx.update(Film.where { $0.episode >= 4 }) {
///       $0.rating = 5
///       $0.seenAt = nil
///       $0.views.add(1)
///       $0.firstTitle = $0.title
///       $0.dueAt = $0.lentAt + 14 * 86_400
///     }
///
/// The right sides read the record before the update. Each attribute may be assigned only once.
@dynamicMemberLookup
public struct AttributeUpdates<E: Entity>: ~Copyable {
  private var assignments: [AttributeAssignment] = []
  /// The first invalid assignment.
  private var failure: StoreError?

  init() {}

  /// The assignments in their order.
  func assigned() throws(StoreError) -> [AttributeAssignment] {
    if let failure { throw failure }
    return assignments
  }

  /// Sets the attribute to a constant.
  @_disfavoredOverload
  public subscript<V>(dynamicMember path: KeyPath<E.Attributes, Attribute<E, V>>) -> V {
    @available(
      *, unavailable,
      message: "an update has no values to read: write $0.count.add(1) or $0.a = $0.b"
    )
    get { preconditionFailure("not called: it is unavailable") }
    set {
      let attribute = E.attributes[keyPath: path]
      do throws(StoreError) {
        assign(attribute, .value(.null), try attribute.stored(newValue).value)
      } catch {
        failure = failure ?? error
      }
    }
  }

  /// The attribute, for arithmetic or for an assignment to another attribute.
  public subscript<V>(
    dynamicMember path: KeyPath<E.Attributes, Attribute<E, V>>
  ) -> UpdatedAttribute<E, V> {
    get { UpdatedAttribute(E.attributes[keyPath: path].operand) }
    set { assign(E.attributes[keyPath: path], newValue.operand, nil) }
  }

  /// A derived attribute, which only the store sets.
  @_documentation(visibility: internal)
  @_disfavoredOverload
  public subscript<V>(dynamicMember path: WritableKeyPath<E.Attributes, Attribute<E, V>>) -> V {
    @available(
      *, unavailable,
      message: "an update has no values to read: write $0.count.add(1) or $0.a = $0.b"
    )
    get { preconditionFailure("not called: it is unavailable") }
    @available(
      *, unavailable, message: "a derived attribute cannot be set: the store keeps its value"
    )
    set { preconditionFailure("not called: it is unavailable") }
  }

  /// A derived attribute, for an assignment to another attribute.
  @_documentation(visibility: internal)
  public subscript<V>(
    dynamicMember path: WritableKeyPath<E.Attributes, Attribute<E, V>>
  ) -> UpdatedAttribute<E, V> {
    get { UpdatedAttribute(E.attributes[keyPath: path].operand) }
    @available(
      *, unavailable, message: "a derived attribute cannot be set: the store keeps its value"
    )
    set { preconditionFailure("not called: it is unavailable") }
  }

  /// Assigns the value of an expression in a predicate format string to the attribute at `path`.
  ///
  ///     $0.set(\.total, format: "price * amount")
  public mutating func set<V>(
    _ path: KeyPath<E.Attributes, Attribute<E, V>>, format: String,
    _ arguments: any Sendable...
  ) {
    do throws(StoreError) {
      let arguments = try FormatArgument.arguments(arguments)
      assign(
        E.attributes[keyPath: path],
        try ConditionParser.parseOperand(format, arguments: arguments), nil)
    } catch {
      failure = failure ?? error
    }
  }

  private mutating func assign<V>(
    _ attribute: Attribute<E, V>, _ operand: Operand, _ constant: Value?
  ) {
    assignments.append(
      AttributeAssignment(
        name: attribute.attributeName, isStored: attribute.storedOrdinal != nil, operand: operand,
        constant: constant))
  }
}

/// An attribute in an update, or a value computed from attributes.
public struct UpdatedAttribute<E: Entity, Value> {
  var operand: Operand

  init(_ operand: Operand) { self.operand = operand }

  private mutating func combine<V: AttributeValue>(_ op: ArithmeticOperator, _ amount: V) {
    operand = .arithmetic(op, operand, .value(ConditionConstant.value(amount)))
  }
}

extension UpdatedAttribute where Value: AttributeValue & Numeric {
  /// Adds `amount` to the value of each record; null stays null.
  ///
  /// The update throws ``StoreError/Code/unstorableValue`` when a result is beyond the type's
  /// range.
  public mutating func add(_ amount: Value) { combine(.add, amount) }

  /// Subtracts `amount` from the value of each record; null stays null.
  public mutating func subtract(_ amount: Value) { combine(.subtract, amount) }

  /// Multiplies the value of each record by `factor`; null stays null.
  public mutating func multiply(by factor: Value) { combine(.multiply, factor) }
}

extension UpdatedAttribute {
  /// Adds `amount` to the value of each record; null stays null.
  @_documentation(visibility: internal)
  public mutating func add<V: AttributeValue & Numeric>(_ amount: V) where Value == V? {
    combine(.add, amount)
  }

  /// Subtracts `amount` from the value of each record; null stays null.
  @_documentation(visibility: internal)
  public mutating func subtract<V: AttributeValue & Numeric>(_ amount: V) where Value == V? {
    combine(.subtract, amount)
  }

  /// Multiplies the value of each record by `factor`; null stays null.
  @_documentation(visibility: internal)
  public mutating func multiply<V: AttributeValue & Numeric>(by factor: V) where Value == V? {
    combine(.multiply, factor)
  }
}

/// One assignment of an update: the value of an operand, or a constant.
struct AttributeAssignment: Sendable {
  var name: String
  var isStored: Bool
  var operand: Operand
  var constant: Value?
}
