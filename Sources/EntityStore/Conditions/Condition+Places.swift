internal import LodestoreFormat

extension Condition {
  /// Whether a record's place is in an area.
  ///
  /// The entity must have a place index. A query without one throws
  /// ``StoreError/Code/invalidQuery``, and so does an invalid area. See <doc:Places>.
  public static func within(_ box: BoundingBox) -> Condition {
    Condition(.comparison(Comparison(.path(ValuePath(.record, [])), .within, .box(box))))
  }

  /// Whether a record's place is at most some meters away from a place.
  ///
  ///     Fireball.where(.near(chelyabinsk, meters: 500_000)).sortedByDistance()
  ///
  /// - Parameter meters: the distance on the sphere, see ``Coordinate/distance(to:)``; `nil` for
  ///   any distance. Records without a place are never near.
  public static func near(_ place: Coordinate, meters: Double? = nil) -> Condition {
    Condition(
      .comparison(Comparison(.path(ValuePath(.record, [])), .near, .circle(place, meters))))
  }
}

extension Attribute {
  /// Whether the place with this latitude or longitude is in an area.
  ///
  /// For entities with several place indexes. See ``Condition/within(_:)``.
  public func isWithin(_ box: BoundingBox) -> Condition<E> {
    compared(.within, .box(box))
  }

  /// Whether the place with this latitude or longitude is at most some meters away from a place.
  ///
  /// For entities with several place indexes. See ``Condition/near(_:meters:)``.
  public func isNear(_ place: Coordinate, meters: Double? = nil) -> Condition<E> {
    compared(.near, .circle(place, meters))
  }
}

extension Operand {
  /// The right side of `WITHIN`.
  static func box(_ box: BoundingBox) -> Operand {
    .values([box.south, box.west, box.north, box.east].map(Value.double))
  }

  /// The right side of `NEAR`.
  static func circle(_ place: Coordinate, _ meters: Double?) -> Operand {
    .values(([place.latitude, place.longitude] + (meters.map { [$0] } ?? [])).map(Value.double))
  }
}
