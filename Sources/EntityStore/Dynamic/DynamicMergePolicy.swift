/// The treatment of an incoming record when the store already has a record with its key.
package enum DynamicMergePolicy: String, Sendable, CaseIterable {
  /// The incoming record is rejected.
  case fail
  /// The stored record stays unchanged.
  case ignore
  /// The stored record takes all incoming values.
  case replace
  /// The stored record takes the values of the attributes that the incoming record contains.
  case patch

  var rule: MergeRule {
    switch self {
    case .fail: .fail
    case .ignore: .ignore
    case .replace: .replace
    case .patch: .patchGiven
    }
  }
}
