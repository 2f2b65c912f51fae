/// The rules of Format.md that a file can be checked for, by their names in Format.md.
///
/// The tables of Format.md, section 37, list each rule, with the fault by which a test breaks it.
package enum FormatRule: CaseIterable, Sendable {
  // LMDB's pages.
  case lmdbMeta, lmdbFileLength, lmdbPage, lmdbKeyOrder, lmdbPageOnce, lmdbPageAccounted,
    lmdbOverflow, lmdbTreeRecord, lmdbFreeList
  // Trees.
  case treeFlags, treeThere, treeGivenUp
  // Header.
  case headerFields, headerVersions, headerCreated, headerSchema, headerMark, headerRequirement
  // Checksums of everything but records.
  case sealedChecksum
  // Documents.
  case documentCode, documentInteger, documentText, documentLength, documentMemberOrder,
    documentNesting
  // Catalogue.
  case catalogueKey, catalogueMembers, catalogueType, catalogueEntityName, catalogueEntityNameOnce,
    catalogueAttributeName, catalogueAttributeNameOnce, catalogueSource, catalogueAttributeNumber,
    catalogueShape, catalogueDocumentMembers, catalogueInitial, catalogueDefault, catalogueLayout,
    catalogueLayoutOrder, catalogueCurrentLayout, catalogueIndex, catalogueBuilding,
    catalogueElementIndex, catalogueRule, catalogueHistory, catalogueExpiry, catalogueLimit,
    catalogueLimits, constraintMembers, constraintType, constraintBounds, constraintPattern
  // Derived attributes.
  case derivedKind, derivedMembers, derivedSource, derivedAttribute, derivedRelationship,
    derivedCondition, derivedValue
  // Attribute types.
  case typeBool, typeID, typeText, typeDecimal
  // Records.
  case recordID, recordLayout, recordLength, recordSize, recordEnds, recordNullBits,
    recordNullZero, recordWide, recordRequired, recordJSON, recordChecksum
  // Index keys.
  case keyCode, keyComplete, keyInteger, keyFloat, keyText, keyNFC, keyDecimal
  // Indexes.
  case indexEntryThere, indexEntryCurrent, indexEntryRecord, indexKey, indexBody, indexUnique,
    elementEntries, elementBody
  // Relationships.
  case relationshipMembers, relationshipName, relationshipEntities, relationshipHolder,
    relationshipOrdered, relationshipCondition, linkKey, linkBody, linkBothSides, linkRecords,
    linkOrder
  // Counters.
  case counterKey, counterLength, counterRecord, counterEntity, counterNumbers, counterBuilding,
    counterSize
  // Digests.
  case digestKey, digestLength, digestContent
  // The second copy of the catalogue.
  case catalogueCopy
  // Sealed files.
  case sealPages, sealPair, sealMembers, sealWriter, sealTrees, sealSchema, sealHeader, sealCounts,
    sealDigest
  // Buckets and imports.
  case bucketKey, importKey, importState, importPage, importPageKey, importReport, importIDs,
    importBasis
  // History.
  case historyKey, historyPart, historyParts, historyNumber, historyImages, historyIDs,
    historyPairs, historyNotEmpty, historyOnce, historyEntity, historyAttributes,
    historyRelationship, historyImage, historyPreserved, historyMark, historyKept, historyAllKept

  /// The name in Format.md, such as `catalogue.entity-name` of `catalogueEntityName`.
  ///
  /// A dot follows the first word, and hyphens separate the others. Letters of an abbreviation, as in
  /// `typeID`, are one word.
  package var name: String {
    var name = ""
    var wasUppercase = false
    for letter in "\(self)" {
      if letter.isUppercase, !wasUppercase { name += name.contains(".") ? "-" : "." }
      wasUppercase = letter.isUppercase
      name += letter.lowercased()
    }
    return name
  }

  package init?(name: String) {
    guard let rule = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = rule
  }
}
