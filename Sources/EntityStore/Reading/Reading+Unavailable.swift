// Calls that people try first, refused with a message that shows the right form.

extension ReadableTransaction where Self: ~Copyable {
  /// Refused, because a type does not say which records to read.
  @available(*, unavailable, message: "say which records: fetch(Film.all), fetch(Film.where { … })")
  @_documentation(visibility: internal)
  public func fetch<E: Entity>(_ type: E.Type) throws(StoreError) -> [E] { [] }

  /// Refused, because a number is not an id of an entity.
  @available(*, unavailable, message: "an id has the type of its entity: Film.ID(rawValue: 5)")
  @_documentation(visibility: internal)
  public func fetch(_ id: Int) throws(StoreError) -> Never { fatalError() }

  /// Refused, because a type does not say which records to read.
  @available(*, unavailable, message: "say which records: first(Film.all), first(Film.where { … })")
  @_documentation(visibility: internal)
  public func first<E: Entity>(_ type: E.Type) throws(StoreError) -> E? { nil }

  /// Refused, because a type does not say which records to count.
  @available(*, unavailable, message: "say which records: count(Film.all), count(Film.where { … })")
  @_documentation(visibility: internal)
  public func count<E: Entity>(_ type: E.Type) throws(StoreError) -> Int { 0 }

  /// Refused, because a type does not say which records to look for.
  @available(
    *, unavailable, message: "say which records: exists(Film.all), exists(Film.where { … })"
  )
  @_documentation(visibility: internal)
  public func exists<E: Entity>(_ type: E.Type) throws(StoreError) -> Bool { false }
}

extension Store {
  /// Refused, because a type does not say which records to read.
  @available(*, unavailable, message: "say which records: fetch(Film.all), fetch(Film.where { … })")
  @_documentation(visibility: internal)
  public func fetch<E: Entity>(_ type: E.Type) throws -> [E] { [] }

  /// Refused, because a number is not an id of an entity.
  @available(*, unavailable, message: "an id has the type of its entity: Film.ID(rawValue: 5)")
  @_documentation(visibility: internal)
  public func fetch(_ id: Int) throws -> Never { fatalError() }

  /// Refused, because a type does not say which records to read.
  @available(*, unavailable, message: "say which records: first(Film.all), first(Film.where { … })")
  @_documentation(visibility: internal)
  public func first<E: Entity>(_ type: E.Type) throws -> E? { nil }

  /// Refused, because a type does not say which records to count.
  @available(*, unavailable, message: "say which records: count(Film.all), count(Film.where { … })")
  @_documentation(visibility: internal)
  public func count<E: Entity>(_ type: E.Type) throws -> Int { 0 }

  /// Refused, because a type does not say which records to look for.
  @available(
    *, unavailable, message: "say which records: exists(Film.all), exists(Film.where { … })"
  )
  @_documentation(visibility: internal)
  public func exists<E: Entity>(_ type: E.Type) throws -> Bool { false }
}
