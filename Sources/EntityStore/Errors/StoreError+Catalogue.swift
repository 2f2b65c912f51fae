internal import LodestoreFormat

// The messages of the library, with one function each, so that they can be proofread together. The
// wording is: cannot + verb + thing: the found and the expected fact; the next step.

extension StoreError {
  // MARK: Schema

  static func badName(_ name: String, of what: String) -> StoreError {
    let reason =
      name == EntityDescription.nameOfID
      ? "the store uses this name for the id of a record; choose another name"
      : "a name is a letter or '_', then ASCII letters, digits and '_', at most 64 bytes"
    return StoreError(.badSchema, "cannot use '\(name)' as the name of \(what): \(reason)")
  }

  static func badSchema(entity: String, attribute: String? = nil, _ reason: String) -> StoreError {
    StoreError(
      .badSchema, "cannot use the schema of \(entity): \(reason)", entity: entity,
      attribute: attribute)
  }

  static func missingInitialValue(entity: String, attribute: String) -> StoreError {
    StoreError(
      .incompatibleSchema,
      "cannot add '\(entity).\(attribute)': it is required and the stored records do not have it; give it a "
        + "default value that is the same in every process, which Date(), .now and UUID() are not; "
        + "or give these records a value, by @Attribute(initial: …) or the step .add(\"\(attribute)\", "
        + "to: \"\(entity)\", initial: …) of a migration; or make it optional, or name its originalName",
      entity: entity, attribute: attribute)
  }

  static func undeclaredRequired(entity: String, attribute: String) -> StoreError {
    StoreError(
      .unstorableValue,
      "cannot insert a \(entity): '\(attribute)', which the file has and the type does not declare, is "
        + "required and has no initial value; declare it, or name it in the schema's 'removed' to give "
        + "up its values", entity: entity, attribute: attribute)
  }

  static func typeChanged(
    entity: String, attribute: String, stored: String, declared: String, isWider: Bool,
    isDerived: Bool
  ) -> StoreError {
    let step =
      isWider
      ? ", as .convert(\"\(attribute)\", of: \"\(entity)\", to: \(declared.capitalizedType).self) does"
      : ""
    let way =
      isDerived
      ? "remove the stored attribute by the step 'remove' of a migration "
        + "(Store(at:entities:migrating:)), and the store derives the values of the new type"
      : "convert the values by a stage of a migration (Store(at:entities:migrating:))" + step
    return StoreError(
      .incompatibleSchema,
      "cannot open the store: '\(entity).\(attribute)' is stored as \(stored), declared as "
        + "\(declared); keep the stored type, or \(way)",
      entity: entity, attribute: attribute)
  }

  static func nullInRequired(entity: String, attribute: String, recordID: UInt64) -> StoreError {
    StoreError(
      .incompatibleSchema,
      "cannot make '\(entity).\(attribute)' required: record \(recordID) has no value; keep "
        + "it optional, or give every record a value, as the step 'require' of a migration does",
      entity: entity, recordID: recordID)
  }

  static func foreignFile(_ path: String, trees: [String]) -> StoreError {
    let found = trees.isEmpty ? "no trees" : "the trees \(trees.prefix(5).joined(separator: ", "))"
    return StoreError(
      .notAStore,
      "cannot open '\(path)': it is an LMDB file with \(found), and no Lodestore store, which has a "
        + "tree 'lodestore'")
  }

  static func newerFormat(_ path: String, needed: UInt32, isWriting: Bool) -> StoreError {
    StoreError(
      .newerFormat,
      "cannot open '\(path)' for \(isWriting ? "writing" : "reading"): the file needs a "
        + "\(isWriting ? "writer" : "reader") of format \(needed), this library knows format "
        + "\(FormatVersion.current.rawValue); \(isWriting ? "open it read-only or " : "")update the "
        + "library")
  }

  static func damagedSchemaNumber(_ number: UInt64) -> StoreError {
    StoreError(
      .damaged,
      "cannot change the schema: its number is \(number), at most 2^62; run 'kvdump verify'")
  }

  static func schemaNumbersUsedUp(_ number: UInt64) -> StoreError {
    StoreError(
      .incompatibleSchema,
      "cannot change the schema: its number is \(number), the highest; copy the records into a new "
        + "store, as with 'kvdump export' and 'kvdump import'")
  }

  /// - Parameter what: the numbers that are used up: `attributes`, `layouts`.
  static func numbersUsedUp(_ what: String, limit: Int, entity: String) -> StoreError {
    StoreError(
      .incompatibleSchema,
      "cannot change the schema of \(entity): it has had \(limit) \(what), including removed ones, and "
        + "has no number for another one; keep the schema, or copy the records into an entity of another name or "
        + "a new store, as with 'kvdump export' and 'kvdump import'", entity: entity)
  }

  static func unreadableSchema(entity: String, _ cause: FormatError) -> StoreError {
    StoreError(
      .incompatibleSchema,
      "cannot change the schema of \(entity): \(cause.reason); declare it in another way",
      cause: cause, entity: entity)
  }

  static func duplicateEntity(_ name: String) -> StoreError {
    StoreError(.badSchema, "cannot open the store: two declared types are named '\(name)'")
  }

  static func missingInReadOnly(_ name: String) -> StoreError {
    StoreError(
      .unknownEntity,
      "cannot open the store read-only with \(name): the file does not have that entity; open it "
        + "for writing once, or leave the entity out", entity: name)
  }

  static func evolutionInReadOnly(_ name: String) -> StoreError {
    StoreError(
      .incompatibleSchema,
      "cannot open the store read-only with \(name): its declared attributes or indexes are not "
        + "those of the file; open it for writing once to add the missing parts",
      entity: name)
  }

  static func upgradeInReadOnly(_ name: String) -> StoreError {
    StoreError(
      .incompatibleSchema,
      "cannot open the store read-only with \(name): an earlier version of the library wrote its ids "
        + "of records as documents; open it for writing once, so that they are converted",
      entity: name)
  }

  static func changedElsewhere(_ name: String) -> StoreError {
    StoreError(
      .incompatibleSchema,
      "cannot use \(name): its attributes in the file were changed after this store was opened; "
        + "close the store and open it again with a type that has them", entity: name)
  }

  static func newerModel(_ stored: UInt64, known: UInt64, _ unknown: [String]) -> StoreError {
    StoreError(
      .incompatibleSchema,
      "cannot open the store for writing: its model has version \(stored), this program knows "
        + "\(known) and would not understand \(unknown.prefix(10).joined(separator: "; ")); update the "
        + "program, or open the store read-only with the entities that it has")
  }

  /// - Parameter repeated: pairs of records with equal values in the index; there must be at least
  ///   one pair.
  static func cannotBuildUnique(
    entity: String, index: String, _ repeated: [(first: UInt64, second: UInt64)], detail: String
  ) -> StoreError {
    let pairs = repeated.map { "\($0.first) and \($0.second)" }.joined(separator: ", ")
    var error = StoreError(
      .incompatibleSchema,
      "cannot make unique index '\(index)': of \(entity) the records \(pairs) have the same value"
        + "\(repeated.count < 10 ? "" : ", and perhaps more"); delete one of each first, or take a "
        + "migration's step 'deduplicate'",
      entity: entity, index: index, recordID: repeated.first?.second, privateDetail: detail)
    error.violations = repeated.map { pair in
      RuleViolation(
        entity: entity, recordID: pair.second, attribute: nil,
        rule: "has the same value in '\(index)' as record \(pair.first)")
    }
    return error
  }

  // MARK: Queries

  static func conditionFailed(
    entity: String, recordID: UInt64, text: String, _ cause: any Error
  ) -> StoreError {
    StoreError(
      .conditionFailed,
      "cannot evaluate '\(text)' on \(entity) \(recordID): \(cause); exclude such records by a "
        + "condition in front of it", cause: cause, entity: entity, recordID: recordID)
  }

  // MARK: Transactions

  static func undeclared(_ name: String) -> StoreError {
    StoreError(
      .unknownEntity,
      "cannot use \(name): the store was not opened with it; add \(name).self to the entities in "
        + "Store(at:entities:)", entity: name)
  }

  static func unknownEntity(_ name: String, known: [String]) -> StoreError {
    let hint = NearestName.of(name, among: known).map { "; did you mean '\($0)'?" } ?? ""
    return StoreError(
      .unknownEntity,
      "cannot find entity '\(name)': the store has "
        + (known.isEmpty ? "none" : known.sorted().joined(separator: ", ")) + hint,
      entity: name)
  }

  static func unknownIndex(entity: String, attributes: String, known: [String]) -> StoreError {
    let name = "\(entity).\(attributes)"
    let hint = NearestName.of(name, among: known).map { "; did you mean '\($0)'?" } ?? ""
    return StoreError(
      .unknownIndex,
      "cannot find an index over '\(name)': the entity has "
        + (known.isEmpty ? "none" : known.map { "'\($0)'" }.joined(separator: ", ")) + hint,
      entity: entity)
  }

  /// - Parameter id: the id of the stored record to be changed; `nil` for a new record.
  static func uniqueViolation(
    entity: String, index: String, holder: UInt64, detail: String, of id: UInt64? = nil
  ) -> StoreError {
    let verb = id.map { "update \(entity) \($0)" } ?? "store \(entity)"
    return StoreError(
      .uniqueViolation,
      "cannot \(verb): unique index '\(index)' already leads to \(entity) \(holder)",
      entity: entity, index: index, recordID: holder, privateDetail: detail)
  }

  /// The error for two records of a batch that have equal keys in a unique index.
  ///
  /// - Parameter firstNew: the id of the first value of a batch insert; `nil` when stored records
  ///   are changed.
  static func repeatedInBatch(
    entity: String, index: String, _ ids: (UInt64, UInt64), firstNew: UInt64?, detail: String
  ) -> StoreError {
    let (first, second) = (min(ids.0, ids.1), max(ids.0, ids.1))
    if let firstNew, first >= firstNew {
      let positions = (Int(first - firstNew), Int(second - firstNew))
      var error = StoreError(
        .uniqueViolation,
        "cannot store \(entity): the values \(positions.0 + 1) and \(positions.1 + 1) of the batch "
          + "have the same '\(index)'", entity: entity, index: index, privateDetail: detail)
      error.batchPosition = positions.1
      return error
    }
    return StoreError(
      .uniqueViolation,
      "cannot update \(entity): the records \(first) and \(second) would have the same '\(index)'",
      entity: entity, index: index, recordID: second, privateDetail: detail)
  }

  static func noSuchRecord(entity: String, id: UInt64) -> StoreError {
    let reason =
      id == 0
      ? "cannot find this \(entity): it was never inserted, so its id is 0; insert it, and use the id of "
        + "the record that insert returns"
      : "cannot find \(entity) \(id): no record has this id"
    return StoreError(.noSuchRecord, reason, entity: entity, recordID: id)
  }

  static func alreadyStored(entity: String, id: UInt64) -> StoreError {
    StoreError(
      .invalidID,
      "cannot insert \(entity) \(id): it has an id already; update it, or set its id to unassigned",
      entity: entity, recordID: id)
  }

  static func otherID(_ other: UInt64, of id: UInt64, entity: String) -> StoreError {
    StoreError(
      .invalidID,
      "cannot modify \(entity) \(id): it was given the id \(other); leave the id as it is",
      entity: entity, recordID: id)
  }

  static func notStored(entity: String) -> StoreError {
    StoreError(
      .invalidID, "cannot update \(entity): it has no id yet; insert it first", entity: entity)
  }

  static func idsUsedUp(entity: String, next: UInt64, limit: UInt64) -> StoreError {
    StoreError(
      .unstorableValue,
      "cannot insert \(entity): the next id would be \(next), and new records have ids below \(limit), "
        + "each once; copy the records into a new store, as with 'kvdump export' and 'kvdump import', "
        + "where they have new ids", entity: entity)
  }

  static func damagedIDs(entity: String, _ number: UInt64) -> StoreError {
    StoreError(
      .damaged,
      "cannot change \(entity): its last record or its counter has \(number), ids are below 2^63; run "
        + "'kvdump verify'", entity: entity)
  }

  static func recordTooLarge(entity: String, size: Int, limit: Int) -> StoreError {
    StoreError(
      .unstorableValue,
      "cannot store \(entity): the record has \(size) bytes, the limit is \(limit); store less, or "
        + "raise recordSizeLimitInBytes", entity: entity)
  }

  static func unencodable(entity: String, cause: any Error) -> StoreError {
    StoreError(
      .unstorableValue, "cannot store \(entity): a value cannot be encoded: \(cause)", cause: cause,
      entity: entity)
  }

  static func unassignedID(_ entity: String, attribute: String) -> StoreError {
    StoreError(
      .unstorableValue,
      "cannot store \(entity): '\(attribute)' is no id of a stored record; insert that record first "
        + "and take the id that the insert returns",
      entity: entity, attribute: attribute)
  }

  static func brokenTransaction(by cause: StoreError) -> StoreError {
    StoreError(
      .brokenTransaction,
      "cannot commit: a batch failed after some changes (\(cause.message)); let the error end the "
        + "transaction",
      cause: cause)
  }

  static func damagedRecord(entity: String, recordID: UInt64, _ error: any Error) -> StoreError {
    let reason = (error as? FormatError)?.description ?? "\(error)"
    return StoreError(
      .damaged, "cannot read \(entity) \(recordID): \(reason); run 'kvdump verify'", cause: error,
      entity: entity, recordID: recordID)
  }

  static func foreignEntry(
    entity: String, recordID: UInt64, index: String, holder: UInt64
  ) -> StoreError {
    StoreError(
      .damaged,
      "cannot change \(entity) \(recordID): the entry of its bytes in index '\(index)' leads to record "
        + "\(holder), so one of the two is damaged; run 'kvdump verify'",
      entity: entity, index: index, recordID: recordID)
  }

  static func damagedIndex(_ index: String, _ reason: String) -> StoreError {
    StoreError(
      .damaged, "cannot read index '\(index)': \(reason); run 'kvdump verify'", index: index)
  }

  static func damagedRelationship(_ relationship: String, _ reason: String) -> StoreError {
    StoreError(
      .damaged, "cannot read relationship '\(relationship)': \(reason); run 'kvdump verify'")
  }

  static func badBucket(_ name: String, size: Int) -> StoreError {
    StoreError(
      .unstorableValue,
      "cannot use bucket '\(name)': its name has \(size) bytes, must have 1 to \(BucketKey.longestName) and "
        + "no zero byte; take another name")
  }

  static func bucketOfLibrary(_ name: String, prefix: String) -> StoreError {
    StoreError(
      .unstorableValue,
      "cannot write bucket '\(name)': names that begin with '\(prefix)' are reserved for the library; "
        + "take another name")
  }

  static func badKey(_ key: String, size: Int, of bucket: String) -> StoreError {
    StoreError(
      .unstorableValue,
      "cannot use key '\(key)' of bucket '\(bucket)': it has \(size) bytes, must have 1 to "
        + "\(BucketKey.longestKey); take another key")
  }

  static func bucketValueTooLarge(
    _ size: Int, limit: Int, key: String, bucket: String
  ) -> StoreError {
    StoreError(
      .unstorableValue,
      "cannot keep '\(key)' in bucket '\(bucket)': the value has \(size) bytes, the limit is "
        + "\(limit); keep less, or raise recordSizeLimitInBytes")
  }
}

extension String {
  /// The name of an attribute's type with the capital letters of Swift, as `UInt64` for `uint64`.
  fileprivate var capitalizedType: String {
    hasPrefix("uint") ? "UInt" + dropFirst(4) : prefix(1).uppercased() + dropFirst()
  }
}
