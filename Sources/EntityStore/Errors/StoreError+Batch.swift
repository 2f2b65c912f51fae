// Errors of one value in a batch.

extension StoreError {
  /// The value at `position` of a batch in words, counted from 1.
  static func inWords(_ position: Int) -> String { "value \(position + 1) of the batch" }

  /// Returns the error with the position of its value in a batch, unless it already has one.
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

  /// Returns the error of a part of a larger batch, with its position increased by the `count`
  /// values before the part.
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

  /// Whether the error concerns one value, so that its position in a batch is useful.
  var isOfValue: Bool { refusesValue || code == .invalidID }

  /// Whether the value itself cannot be stored, and nothing else is wrong.
  var refusesValue: Bool {
    code == .uniqueViolation || code == .mergeConflict || code == .unstorableValue
      || code == .invalidValue
  }
}
