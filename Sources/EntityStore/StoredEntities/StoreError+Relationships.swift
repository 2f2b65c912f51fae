internal import LodestoreFormat

// MARK: Relationships

extension StoreError {
  static func missingTarget(_ end: RelationshipEnd, holder: UInt64, target: UInt64) -> StoreError {
    let how = end.name.map { ", by '\($0)'," } ?? ""
    return StoreError(
      .missingTarget,
      "cannot commit: \(end.source.name) \(holder) leads\(how) to \(end.target.name) \(target), which is not there; insert it "
        + "in the same write, or lead to another one",
      entity: end.source.name, attribute: end.name, recordID: holder)
  }
}

extension StoreError {
  /// - Parameters:
  ///   - end: the relationship from the record to be deleted to the record that denies the delete.
  ///   - condition: the condition that the denying record matches; `nil` without a condition.
  static func denied(
    _ end: RelationshipEnd, _ id: UInt64, _ other: UInt64, where condition: String? = nil
  ) -> StoreError {
    let source = end.source.name
    let target = end.target.name
    var reason: String
    if let attribute = end.opposite.attribute {
      reason =
        "\(target) \(other) leads to it by '\(attribute.name)'"
        + (end.onDelete == .deny && end.name != nil || condition != nil
          ? "" : ", which is required")
    } else {
      reason = "it leads to \(target) \(other)" + (end.name.map { " by '\($0)'" } ?? "")
    }
    if let condition { reason += ", and fulfils '\(condition)'" }
    return StoreError(
      .deleteDenied,
      "cannot delete \(source) \(id): \(reason); delete or change that one before, or in the same call",
      entity: source, attribute: end.name, recordID: id)
  }
}

extension StoreError {
  static func unknownRelationship(_ name: String, entity: String, known: [String]) -> StoreError {
    let list = known.isEmpty ? "it has none" : "it has \(known.sorted().joined(separator: ", "))"
    return StoreError(
      .invalidQuery, "cannot find the relationship '\(name)' of \(entity): \(list)",
      entity: entity, attribute: name)
  }

  static func requiredLink(_ end: RelationshipEnd, _ id: UInt64) -> StoreError {
    let attribute = end.opposite.attribute?.name ?? ""
    return StoreError(
      .unstorableValue,
      "cannot take \(end.target.name) \(id) out of '\(end.label)': its '\(attribute)' is required; lead "
        + "it to another \(end.source.name), or delete it",
      entity: end.target.name, attribute: attribute, recordID: id)
  }
}
