// What people try first, refused with what to write instead.

extension ReadableTransaction where Self: ~Copyable {
  /// Refused: a type is no query.
  @available(*, unavailable, message: "say which records: fetch(Film.all), fetch(Film.where { … })")
  @_documentation(visibility: internal)
  public func fetch<E: Entity>(_ type: E.Type) throws(StoreError) -> [E] { [] }

  /// Refused: a number is no id.
  @available(*, unavailable, message: "an id has the type of its entity: Film.ID(rawValue: 5)")
  @_documentation(visibility: internal)
  public func fetch(_ id: Int) throws(StoreError) -> Never { fatalError() }

  /// Refused: a type is no query.
  @available(*, unavailable, message: "say which records: first(Film.all), first(Film.where { … })")
  @_documentation(visibility: internal)
  public func first<E: Entity>(_ type: E.Type) throws(StoreError) -> E? { nil }

  /// Refused: a type is no query.
  @available(*, unavailable, message: "say which records: count(Film.all), count(Film.where { … })")
  @_documentation(visibility: internal)
  public func count<E: Entity>(_ type: E.Type) throws(StoreError) -> Int { 0 }

  /// Refused: a type is no query.
  @available(
    *, unavailable, message: "say which records: exists(Film.all), exists(Film.where { … })"
  )
  @_documentation(visibility: internal)
  public func exists<E: Entity>(_ type: E.Type) throws(StoreError) -> Bool { false }
}

extension Store {
  /// Refused: a type is no query.
  @available(*, unavailable, message: "say which records: fetch(Film.all), fetch(Film.where { … })")
  @_documentation(visibility: internal)
  public func fetch<E: Entity>(_ type: E.Type) throws -> [E] { [] }

  /// Refused: a number is no id.
  @available(*, unavailable, message: "an id has the type of its entity: Film.ID(rawValue: 5)")
  @_documentation(visibility: internal)
  public func fetch(_ id: Int) throws -> Never { fatalError() }

  /// Refused: a type is no query.
  @available(*, unavailable, message: "say which records: first(Film.all), first(Film.where { … })")
  @_documentation(visibility: internal)
  public func first<E: Entity>(_ type: E.Type) throws -> E? { nil }

  /// Refused: a type is no query.
  @available(*, unavailable, message: "say which records: count(Film.all), count(Film.where { … })")
  @_documentation(visibility: internal)
  public func count<E: Entity>(_ type: E.Type) throws -> Int { 0 }

  /// Refused: a type is no query.
  @available(
    *, unavailable, message: "say which records: exists(Film.all), exists(Film.where { … })"
  )
  @_documentation(visibility: internal)
  public func exists<E: Entity>(_ type: E.Type) throws -> Bool { false }
}
