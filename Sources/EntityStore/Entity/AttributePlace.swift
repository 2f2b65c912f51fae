/// The index of an attribute with values `V` among the attributes of its entity's schema.
///
/// ``EntityView`` finds an attribute by it. `@Entity` writes one for each attribute; for an entity
/// by hand see ``Entity/attributePlaces``.
public struct AttributePlace<V>: Sendable {
  @usableFromInline let ordinal: Int

  /// The attribute that is the `ordinal`th of the schema, from 0.
  ///
  /// `V` must be the type of its property. Where that is of another kind or size, reading traps; where
  /// it only means something else, as for `Date` and `Double`, what is read means nothing.
  @inlinable
  public init(_ ordinal: Int) { self.ordinal = ordinal }

  /// The attribute that is kept at `path`; traps when it is none of the schema.
  ///
  /// - Complexity: O(attributes): make it once.
  public init<E: Entity>(_ path: KeyPath<E, V>) {
    guard let ordinal = E.schema.index(of: path) else {
      preconditionFailure("\(path) is no attribute of \(E.schema.name)")
    }
    self.ordinal = ordinal
  }
}

/// The ``Entity/AttributePlaces`` of an entity that declares none: its views have ``EntityView/id``,
/// ``EntityView/decoded()`` and attributes by their key paths.
public struct NoAttributePlaces: Sendable {}

extension Entity where AttributePlaces == NoAttributePlaces {
  /// None.
  public static var attributePlaces: NoAttributePlaces { NoAttributePlaces() }
}
