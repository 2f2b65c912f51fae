// Errors of one value among those that are written together.

extension StoreError {
  /// The value at `position` of a batch, counted from 1 as people do.
  static func inWords(_ position: Int) -> String { "value \(position + 1) of the batch" }

  /// The error with the position of its value among those of a batch, unless it has one.
  ///
  /// - Parameter key: a unique key of the value, for ``debugDescription``.
  func inBatch(at position: Int, key: String? = nil) -> StoreError {
    guard batchPosition == nil else { return self }
    var error = self
    error.batchPosition = position
    error.message += " (\(Self.inWords(position)))"
    if let key { error.privateDetail = privateDetail.map { "\($0); \(key)" } ?? key }
    for place in violations.indices where violations[place].batchPosition == nil {
      error.violations[place].batchPosition = position
    }
    return error
  }

  /// The error of a batch that is a part of a larger one, before which `count` values came.
  func inBatch(after count: Int) -> StoreError {
    guard let position = batchPosition, count > 0 else { return self }
    var error = self
    error.batchPosition = position + count
    error.message = message.replacing(Self.inWords(position), with: Self.inWords(position + count))
    for place in violations.indices {
      error.violations[place].batchPosition = violations[place].batchPosition.map { $0 + count }
    }
    return error
  }

  /// Whether it is about one value, so that its position in a batch helps.
  var isOfValue: Bool { refusesValue || code == .invalidID }

  /// Whether the value cannot be stored as it is, and nothing else is wrong.
  var refusesValue: Bool {
    code == .uniqueViolation || code == .mergeConflict || code == .unstorableValue
      || code == .invalidValue
  }
}
