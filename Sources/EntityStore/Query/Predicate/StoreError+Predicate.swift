extension StoreError {
  static func unusableExpression(_ expression: String, entity: String) -> StoreError {
    StoreError(
      .invalidQuery,
      "cannot use the predicate on \(entity): '\(expression)' can be neither looked up nor "
        + "evaluated; write it with #Predicate", entity: entity)
  }

  static func unboundVariable(entity: String) -> StoreError {
    StoreError(
      .invalidQuery,
      "cannot use the predicate on \(entity): it has a variable that is neither the record nor "
        + "declared by a closure in it; write it with #Predicate", entity: entity)
  }
}
