// Queries in forms that people try first; see Condition+Unavailable.swift.

extension Entity {
  /// Refused, because a key path is no condition.
  @available(*, unavailable, message: "a condition is a closure: where { $0.isSeen }")
  @_disfavoredOverload
  @_documentation(visibility: internal)
  public static func `where`<Value>(
    _ path: KeyPath<Attributes, Attribute<Self, Value>>
  ) -> Query<Self> { all }
}

extension Query {
  /// Refused, because a key path is no condition.
  @available(*, unavailable, message: "a condition is a closure: where { $0.isSeen }")
  @_disfavoredOverload
  @_documentation(visibility: internal)
  public func `where`<Value>(_ path: KeyPath<E.Attributes, Attribute<E, Value>>) -> Query { self }
}

extension Query {
  /// Refused, because the direction belongs to the attribute.
  @available(
    *, unavailable, message: "the direction follows the attribute: sorted(by: \\.title.descending)"
  )
  @_disfavoredOverload
  @_documentation(visibility: internal)
  public func sorted<Value>(
    by path: KeyPath<E.Attributes, Attribute<E, Value>>, _ direction: _SortDirection
  ) -> Query { self }

  /// Refused, because the direction belongs to the attribute.
  @available(
    *, unavailable, message: "the direction follows the attribute: sorted(by: \\.title.descending)"
  )
  @_disfavoredOverload
  @_documentation(visibility: internal)
  public func sorted<Value>(
    by path: KeyPath<E.Attributes, Attribute<E, Value>>, order direction: _SortDirection
  ) -> Query { self }
}

/// The directions of a refused call of `sorted(by:_:)` or `sorted(by:order:)`.
@_documentation(visibility: internal)
public enum _SortDirection {
  case ascending, descending
  case forward, reverse
}
