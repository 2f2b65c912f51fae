// What people try first, refused with what to write instead.

extension WriteTransaction {
  /// Refused: a type is no query.
  @available(
    *, unavailable, message: "say which records: delete(Film.all), delete(Film.where { … })"
  )
  @_documentation(visibility: internal)
  public mutating func delete<E: Entity>(_ type: E.Type) throws(StoreError) -> Int { 0 }

  /// Refused: a number is no id.
  @available(*, unavailable, message: "an id has the type of its entity: Film.ID(rawValue: 5)")
  @_documentation(visibility: internal)
  public mutating func delete(_ id: Int) throws(StoreError) -> Never { fatalError() }
}

// Links are between ids.
extension WriteTransaction {
  /// Refused: a value is no id.
  @available(*, unavailable, message: "links are between ids: add(ann.id, to: …, of: choir.id)")
  @_documentation(visibility: internal)
  public mutating func add<E: Entity, Target: Entity, Owner>(
    _ value: Target, to relationship: ToMany<E, Target>, of owner: Owner
  ) throws(StoreError) {}

  /// Refused: values are no ids.
  @available(
    *, unavailable, message: "links are between ids: add(people.map(\\.id), to: …, of: choir.id)"
  )
  @_documentation(visibility: internal)
  public mutating func add<E: Entity, Target: Entity, Owner>(
    _ values: [Target], to relationship: ToMany<E, Target>, of owner: Owner
  ) throws(StoreError) {}

  /// Refused: a value is no id.
  @available(
    *, unavailable, message: "links are between ids: remove(ann.id, from: …, of: choir.id)"
  )
  @_documentation(visibility: internal)
  public mutating func remove<E: Entity, Target: Entity, Owner>(
    _ value: Target, from relationship: ToMany<E, Target>, of owner: Owner
  ) throws(StoreError) {}

  /// Refused: values are no ids.
  @available(
    *, unavailable,
    message: "links are between ids: remove(people.map(\\.id), from: …, of: choir.id)"
  )
  @_documentation(visibility: internal)
  public mutating func remove<E: Entity, Target: Entity, Owner>(
    _ values: [Target], from relationship: ToMany<E, Target>, of owner: Owner
  ) throws(StoreError) {}

  /// Refused: values are no ids.
  @available(
    *, unavailable, message: "links are between ids: set(…, of: choir.id, to: people.map(\\.id))"
  )
  @_disfavoredOverload
  @_documentation(visibility: internal)
  public mutating func set<E: Entity, Target: Entity, Owner>(
    _ relationship: ToMany<E, Target>, of owner: Owner, to values: [Target]
  ) throws(StoreError) {}
}

extension Store {
  /// Refused: a type is no query.
  @available(
    *, unavailable, message: "say which records: delete(Film.all), delete(Film.where { … })"
  )
  @_documentation(visibility: internal)
  public func delete<E: Entity>(_ type: E.Type) throws -> Int { 0 }

  /// Refused: a number is no id.
  @available(*, unavailable, message: "an id has the type of its entity: Film.ID(rawValue: 5)")
  @_documentation(visibility: internal)
  public func delete(_ id: Int) throws -> Never { fatalError() }
}
