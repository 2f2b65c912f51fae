// Every message of the library, one function each, so that they can be proofread as a page.
// Wording: cannot + verb + thing: the fact found and the fact expected; what to do.

extension StoreError {
  static func undecodable(
    entity: String, recordID: UInt64, reason: String, cause: (any Error)? = nil
  ) -> StoreError {
    StoreError(
      .undecodableValue,
      "cannot read \(entity) \(recordID): \(reason); compare the type with 'kvdump schema'",
      cause: cause, entity: entity, recordID: recordID)
  }

  // MARK: Schema

  static func badName(_ name: String, of what: String) -> StoreError {
    StoreError(
      .badSchema,
      "cannot use '\(name)' as the name of \(what): a name is a letter or '_', then ASCII letters, "
        + "digits and '_', at most 64 bytes")
  }

  static func badSchema(entity: String, _ reason: String) -> StoreError {
    StoreError(.badSchema, "cannot use the schema of \(entity): \(reason)", entity: entity)
  }

  static func missingInitialValue(entity: String, attribute: String) -> StoreError {
    StoreError(
      .incompatibleSchema,
      "cannot add '\(entity).\(attribute)': it is required and the stored records do not have it; "
        + "give it a default value, make it optional, or name its originalName",
      entity: entity)
  }

  static func typeChanged(
    entity: String, attribute: String, stored: String, declared: String
  ) -> StoreError {
    StoreError(
      .incompatibleSchema,
      "cannot open the store: '\(entity).\(attribute)' is stored as \(stored), declared as "
        + "\(declared); keep the stored type, or add an attribute under another name and copy the "
        + "values",
      entity: entity)
  }

  static func nullInRequired(entity: String, attribute: String, recordID: UInt64) -> StoreError {
    StoreError(
      .incompatibleSchema,
      "cannot make '\(entity).\(attribute)' required: record \(recordID) has no value; give every "
        + "record a value first, or keep it optional",
      entity: entity, recordID: recordID)
  }
}
