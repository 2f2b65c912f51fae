// Common mistakes, with a message that suggests the correct call.

extension WriteTransaction {
  /// Unavailable, because a type is not a query.
  @available(
    *, unavailable, message: "say which records: delete(Film.all), delete(Film.where { … })"
  )
  @_documentation(visibility: internal)
  public mutating func delete<E: Entity>(_ type: E.Type) throws(StoreError) -> Int { 0 }

  /// Unavailable, because a number is not an id.
  @available(*, unavailable, message: "an id has the type of its entity: Film.ID(rawValue: 5)")
  @_documentation(visibility: internal)
  public mutating func delete(_ id: Int) throws(StoreError) -> Never { fatalError() }
}

// Overloads for links, which need ids.
extension WriteTransaction {
  /// Unavailable, because a value is not an id.
  @available(*, unavailable, message: "links are between ids: add(ann.id, to: …, of: choir.id)")
  @_documentation(visibility: internal)
  public mutating func add<E: Entity, Target: Entity, Owner>(
    _ value: Target, to relationship: ToMany<E, Target>, of owner: Owner
  ) throws(StoreError) {}

  /// Unavailable, because values are not ids.
  @available(
    *, unavailable, message: "links are between ids: add(people.map(\\.id), to: …, of: choir.id)"
  )
  @_documentation(visibility: internal)
  public mutating func add<E: Entity, Target: Entity, Owner>(
    _ values: [Target], to relationship: ToMany<E, Target>, of owner: Owner
  ) throws(StoreError) {}

  /// Unavailable, because a value is not an id.
  @available(
    *, unavailable, message: "links are between ids: remove(ann.id, from: …, of: choir.id)"
  )
  @_documentation(visibility: internal)
  public mutating func remove<E: Entity, Target: Entity, Owner>(
    _ value: Target, from relationship: ToMany<E, Target>, of owner: Owner
  ) throws(StoreError) {}

  /// Unavailable, because values are not ids.
  @available(
    *, unavailable,
    message: "links are between ids: remove(people.map(\\.id), from: …, of: choir.id)"
  )
  @_documentation(visibility: internal)
  public mutating func remove<E: Entity, Target: Entity, Owner>(
    _ values: [Target], from relationship: ToMany<E, Target>, of owner: Owner
  ) throws(StoreError) {}

  /// Unavailable, because values are not ids.
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
  /// Unavailable, because a type is not a query.
  @available(
    *, unavailable, message: "say which records: delete(Film.all), delete(Film.where { … })"
  )
  @_documentation(visibility: internal)
  public func delete<E: Entity>(_ type: E.Type) throws -> Int { 0 }

  /// Unavailable, because a number is not an id.
  @available(*, unavailable, message: "an id has the type of its entity: Film.ID(rawValue: 5)")
  @_documentation(visibility: internal)
  public func delete(_ id: Int) throws -> Never { fatalError() }
}
