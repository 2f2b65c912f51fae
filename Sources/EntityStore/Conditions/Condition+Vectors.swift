internal import LodestoreFormat

extension Condition {
  /// Whether a record has a vector, for an order by the distance from `vector`.
  ///
  ///     Note.where(.near(question, by: .cosine)).sortedByDistance().limit(10)
  ///
  /// The entity must have a vector index; a query without one throws
  /// ``StoreError/Code/invalidQuery``, as does a vector that does not fit the index. See
  /// <doc:Vectors>.
  ///
  /// - Parameter candidates: the number of vectors whose distance is estimated closely. A higher
  ///   number finds more of the nearest records and takes longer; `nil` for 2,000.
  public static func near(
    _ vector: Vector, by measure: VectorMeasure, candidates: Int? = nil
  ) -> Condition {
    Condition(
      .comparison(
        Comparison(.path(ValuePath(.record, [])), .near, .vector(vector, measure, candidates))))
  }
}

extension Attribute {
  /// Whether the attribute has a vector, for an order by the distance from `vector`.
  ///
  /// For entities with several vector indexes. See ``Condition/near(_:by:candidates:)``.
  public func isNear(
    _ vector: Vector, by measure: VectorMeasure, candidates: Int? = nil
  ) -> Condition<E> {
    compared(.near, .vector(vector, measure, candidates))
  }
}

extension Operand {
  /// The right side of `NEAR` for vectors.
  static func vector(_ vector: Vector, _ measure: VectorMeasure, _ candidates: Int?) -> Operand {
    .values(
      [.string(measure.rawValue), .data(vector.bytes)]
        + (candidates.map { [.integer(Int64($0))] } ?? []))
  }
}
