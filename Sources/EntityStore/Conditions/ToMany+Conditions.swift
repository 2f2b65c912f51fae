internal import LodestoreFormat

// Conditions on related records, and values computed from them.

extension ToMany {
  /// Whether at least one of the related records fulfils all lines of `build`.
  ///
  ///     Fireball.where { $0.groups.any { $0.name == "X" } }
  public func any(
    @ConditionBuilder<Target> _ build: (Target.Attributes) -> Condition<Target>
  ) -> Condition<E> {
    count(where: build).compared(.greater, .value(.integer(0)))
  }

  /// Whether every related record fulfils all lines of `build`; true without related records.
  public func all(
    @ConditionBuilder<Target> _ build: (Target.Attributes) -> Condition<Target>
  ) -> Condition<E> {
    counted(Condition(build).negated).compared(.equal, .value(.integer(0)))
  }

  /// Whether no related record fulfils all lines of `build`.
  public func none(
    @ConditionBuilder<Target> _ build: (Target.Attributes) -> Condition<Target>
  ) -> Condition<E> {
    count(where: build).compared(.equal, .value(.integer(0)))
  }

  /// Whether the record has no related records.
  public var isEmpty: Condition<E> { count.compared(.equal, .value(.integer(0))) }

  /// Whether the record with `id` is one of the related records.
  public func contains(_ id: RecordID<Target>) -> Condition<E> {
    Condition(
      .comparison(
        Comparison(.path(path), .contains, .value(.integer(Int64(bitPattern: id.rawValue))))))
  }

  /// The number of related records.
  public var count: Attribute<E, Int> { Attribute(deriving: .path(path(.aggregate(.count)))) }

  /// The number of related records that fulfil all lines of `build`.
  public func count(
    @ConditionBuilder<Target> where build: (Target.Attributes) -> Condition<Target>
  ) -> Attribute<E, Int> {
    counted(Condition(build))
  }

  /// The sum of an attribute over all related records; 0 without related records.
  public func sum<Value: AttributeValue>(
    _ attribute: KeyPath<Target.Attributes, Attribute<Target, Value>>
  ) -> Attribute<E, Double?> {
    aggregate(.sum, attribute)
  }

  /// The mean of an attribute over the related records that have a value; null if none has one.
  public func average<Value: AttributeValue>(
    _ attribute: KeyPath<Target.Attributes, Attribute<Target, Value>>
  ) -> Attribute<E, Double?> {
    aggregate(.avg, attribute)
  }

  /// The lowest value of an attribute among the related records; null if none has one.
  public func minimum<Value: AttributeValue>(
    _ attribute: KeyPath<Target.Attributes, Attribute<Target, Value>>
  ) -> Attribute<E, Value?> {
    aggregate(.min, attribute)
  }

  /// The highest value of an attribute among the related records; null if none has one.
  public func maximum<Value: AttributeValue>(
    _ attribute: KeyPath<Target.Attributes, Attribute<Target, Value>>
  ) -> Attribute<E, Value?> {
    aggregate(.max, attribute)
  }

  /// The lowest value of an optional attribute among the related records; null if none has one.
  public func minimum<Value: AttributeValue>(
    _ attribute: KeyPath<Target.Attributes, Attribute<Target, Value?>>
  ) -> Attribute<E, Value?> {
    aggregate(.min, attribute)
  }

  /// The highest value of an optional attribute among the related records; null if none has one.
  public func maximum<Value: AttributeValue>(
    _ attribute: KeyPath<Target.Attributes, Attribute<Target, Value?>>
  ) -> Attribute<E, Value?> {
    aggregate(.max, attribute)
  }

  private var path: ValuePath { ValuePath(attribute: name ?? "?") }

  private func path(_ steps: ValuePath.Step...) -> ValuePath {
    ValuePath(.record, path.steps + steps)
  }

  private func aggregate<Value, Result: AttributeValue>(
    _ operation: CollectionOperator,
    _ attribute: KeyPath<Target.Attributes, Attribute<Target, Value>>
  ) -> Attribute<E, Result> {
    let inner = Target.attributes[keyPath: attribute]
    let steps = path.steps + [.aggregate(operation)] + (inner.path?.steps ?? [])
    return Attribute(
      deriving: .path(ValuePath(.record, steps)),
      failure: inner.failure
        ?? (inner.path == nil ? .computedAggregate(inner.operand, of: self) : nil))
  }

  private func counted(_ condition: Condition<Target>) -> Attribute<E, Int> {
    switch condition.counted(in: .path(path)) {
    case .success(let count): Attribute(deriving: count)
    case .failure(let error): Attribute(deriving: .path(path), failure: error)
    }
  }
}

extension Attribute where Value: _RecordReference, Value._Target: Entity {
  /// An attribute of the related record; null if there is no record.
  ///
  ///     Note.where { $0.person[\.name] == "Ann" }
  public subscript<V: AttributeValue>(
    _ path: KeyPath<Value._Target.Attributes, Attribute<Value._Target, V>>
  ) -> Attribute<E, V?> {
    related(Value._Target.attributes[keyPath: path])
  }

  /// An optional attribute of the related record; null if there is no record or the record has
  /// null.
  public subscript<V: AttributeValue>(
    _ path: KeyPath<Value._Target.Attributes, Attribute<Value._Target, V?>>
  ) -> Attribute<E, V?> {
    related(Value._Target.attributes[keyPath: path])
  }

  private func related<V, Result: AttributeValue>(
    _ inner: Attribute<Value._Target, V>
  ) -> Attribute<E, Result> {
    guard let outer = path else {
      return Attribute<E, Result>(
        deriving: operand, failure: failure ?? .badQuery("'\(attributeName)' must be stored"))
    }
    do throws(StoreError) {
      return Attribute<E, Result>(
        deriving: try inner.operand.moved(to: outer.root, behind: outer.steps),
        failure: failure ?? inner.failure)
    } catch {
      return Attribute<E, Result>(deriving: operand, failure: error)
    }
  }

  /// Whether the related record exists and fulfils all lines of `build`.
  ///
  ///     Note.where { $0.person.satisfies { $0.name == "Ann"; $0.age > 20 } }
  public func satisfies(
    @ConditionBuilder<Value._Target> _ build: (Value._Target.Attributes) -> Condition<Value._Target>
  ) -> Condition<E> {
    switch Condition(build).counted(in: operand) {
    case .success(let count):
      Condition(.comparison(Comparison(count, .greater, .value(.integer(0)))))
    case .failure(let error): Condition(.failure(error))
    }
  }
}

extension Condition {
  /// Returns the operand that counts the records of `collection` which fulfil the condition.
  fileprivate func counted(in collection: Operand) -> Result<Operand, StoreError> {
    content.flatMap { content in
      let variable = "r\(content.tree.subqueryDepth + 1)"
      return Result { () throws(StoreError) in
        let test = try content.tree.rerooted(from: .record, to: .variable(variable))
        return .subquery(collection, variable: variable, test, [.aggregate(.count)])
      }
    }
  }
}

extension StoreError {
  fileprivate static func computedAggregate<E: Entity, Target: Entity>(
    _ operand: Operand, of relationship: ToMany<E, Target>
  ) -> StoreError {
    .badQuery(
      "'\(ConditionPrinter.text(operand))' is computed, and a sum, an average, a minimum or a maximum "
        + "of '\(relationship.name ?? "?")' takes an attribute of \(Target.schema.name); keep the value "
        + "in a derived attribute of \(Target.schema.name)")
  }
}

/// The type of an attribute that refers to a record: a record id or an optional one.
@_documentation(visibility: internal)
public protocol _RecordReference: AttributeValue {
  /// The entity of the record.
  @_documentation(visibility: internal)
  associatedtype _Target
}

extension RecordID: _RecordReference {
  /// The entity of the record.
  @_documentation(visibility: internal)
  public typealias _Target = E
}

extension Optional: _RecordReference where Wrapped: _RecordReference {
  /// The entity of the record.
  @_documentation(visibility: internal)
  public typealias _Target = Wrapped._Target
}
