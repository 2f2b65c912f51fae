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
