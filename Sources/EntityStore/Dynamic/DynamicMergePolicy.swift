/// The policies of ``MergePolicy`` that need no entity type, by the names that `kvdump import --on-conflict` takes.
package enum DynamicMergePolicy: String, Sendable, CaseIterable {
  /// The incoming record is rejected.
  case fail
  /// The stored record stays as it is, and the incoming one is ignored.
  case ignore
  /// The stored record takes all incoming values.
  case replace
  /// The stored record takes the values of the attributes that the incoming one has.
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
