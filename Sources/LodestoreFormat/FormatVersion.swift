import LodestoreBytes

/// The versions of the file format.
///
/// See Format.md, "Purpose and versions". Each version's additions are cases of ``FormatFeature``.
package enum FormatVersion: UInt32, Sendable, CaseIterable, Comparable {
  /// The first version.
  case first = 1
  /// Adds attributes that hold the id of a record.
  case recordIDs = 2
  /// Adds relationships between records.
  case relationships = 3
  /// Adds derived attributes, rules across attributes, and ordered relationships.
  case derivations = 4
  /// Adds the history.
  case history = 5
  /// Adds to schemas: source names of members, members of nested documents, and conditions of
  /// delete rules and of derived counts.
  case schemas = 6
  /// Adds search indexes, place indexes and vector indexes.
  case searches = 7
  /// Adds computed indexes that are built while the store is in use, lists of vectors, and packed
  /// postings.
  case building = 8

  /// The highest version that this library reads and writes.
  package static let current = FormatVersion.building

  package static func < (lhs: FormatVersion, rhs: FormatVersion) -> Bool {
    lhs.rawValue < rhs.rawValue
  }
}

/// A feature of a file, with the versions that its readers and writers must know.
///
/// A file requires only the versions of the features it uses. Older programs can read and write a
/// file without newer features. See Format.md, "Version history".
package enum FormatFeature: Sendable, CaseIterable {
  /// The part that every file has.
  case base
  /// An attribute of type `id`, declared or removed.
  case recordIDAttribute
  /// A relationship. A writer that does not know it would leave dangling links.
  case relationship
  /// A derived attribute. A writer that does not know it would leave outdated values.
  case derivation
  /// An ordered side of a relationship. A writer that does not know it would not maintain the
  /// records' positions.
  case orderedRelationship
  /// An index over the elements of documents. A writer that does not know it would not maintain its
  /// entries.
  case elementIndex
  /// An index that is built while the store is in use. A writer that does not know it would not
  /// maintain its entries.
  case buildingIndex
  /// A rule across attributes. A writer that does not know it would write records that break it.
  case rule
  /// An entity whose changes the history records. A writer that does not know it would omit
  /// changes.
  case history
  /// The name of the member that imports fill an attribute from. A writer that does not know it
  /// would fill the attribute from another member.
  case sourceName
  /// The members of a nested document. A writer that does not know them would leave a description
  /// that does not match its documents.
  case documentMembers
  /// A default value that differs from the initial value. A writer that does not know it would give
  /// new records the initial value.
  case changedDefault
  /// A condition of a delete rule. A writer that does not know it would delete or keep the wrong
  /// records.
  case deleteRuleCondition
  /// A condition of an attribute derived from related records. A writer that does not know the
  /// condition would count all related records.
  case derivedCondition
  /// An attribute that holds a part of a date. A writer that does not know it would leave an
  /// outdated part.
  case derivedDatePart
  /// JSON's null as the initial value of a required attribute. A program that does not know it
  /// finds no value in records older than the attribute.
  case nullInitial
  /// Digests of the content. A writer that does not know them would leave digests of earlier
  /// content.
  case contentDigest
  /// A second copy of the catalogue. A writer that does not know it would leave a copy of an
  /// earlier catalogue.
  case catalogueCopy
  /// Records that expire. A reader that does not know it would show expired records. A writer would
  /// refuse new records with the unique keys of expired records.
  case expiry
  /// Limits of entities. A writer that does not know them would let the records exceed the limit,
  /// and leave an outdated size.
  case limits
  /// An index over the words of texts. A writer that does not know it would not maintain its
  /// entries.
  case searchIndex
  /// An index over places. A writer that does not know it would not maintain its entries.
  case placeIndex
  /// An index over vectors. A writer that does not know it would not maintain its entries.
  case vectorIndex
  /// A computed index that is built while the store is in use. A writer that does not know it would
  /// not maintain its entries.
  case buildingComputedIndex
  /// Lists of a vector index. A reader that does not know them would find no vectors. A writer
  /// would not maintain the lists.
  case vectorLists
  /// Postings of a search index with positions in bits. A program that does not know them would
  /// take other bytes for frequencies.
  case packedPostings

  /// The lowest versions that a reader and a writer must know.
  package var requirement: FormatRequirement {
    switch self {
    case .base: FormatRequirement(reader: .first, writer: .first)
    case .recordIDAttribute: FormatRequirement(reader: .recordIDs, writer: .recordIDs)
    case .relationship: FormatRequirement(reader: .first, writer: .relationships)
    case .derivation, .rule, .orderedRelationship, .elementIndex, .buildingIndex:
      FormatRequirement(reader: .first, writer: .derivations)
    case .history: FormatRequirement(reader: .first, writer: .history)
    case .sourceName, .documentMembers, .changedDefault, .deleteRuleCondition, .derivedCondition,
      .derivedDatePart, .contentDigest, .catalogueCopy, .limits:
      FormatRequirement(reader: .first, writer: .schemas)
    case .searchIndex, .placeIndex, .vectorIndex:
      FormatRequirement(reader: .first, writer: .searches)
    case .buildingComputedIndex: FormatRequirement(reader: .first, writer: .building)
    case .vectorLists, .packedPostings: FormatRequirement(reader: .building, writer: .building)
    case .nullInitial, .expiry: FormatRequirement(reader: .schemas, writer: .schemas)
    }
  }
}

/// The two required versions in a store's header.
package struct FormatRequirement: Sendable, Hashable {
  /// The lowest format version that a reader must know.
  package var lowestReader: UInt32
  /// The lowest format version that a writer must know.
  package var lowestWriter: UInt32

  package init(lowestReader: UInt32, lowestWriter: UInt32) {
    self.lowestReader = lowestReader
    self.lowestWriter = lowestWriter
  }

  package init(reader: FormatVersion, writer: FormatVersion) {
    self.init(lowestReader: reader.rawValue, lowestWriter: writer.rawValue)
  }

  /// The requirement of a file with these features.
  package init(of features: some Sequence<FormatFeature>) {
    self = features.reduce(FormatFeature.base.requirement) { $0.raised(to: $1.requirement) }
  }

  /// The maximum of each of the two numbers.
  package func raised(to other: FormatRequirement) -> FormatRequirement {
    FormatRequirement(
      lowestReader: max(lowestReader, other.lowestReader),
      lowestWriter: max(lowestWriter, other.lowestWriter))
  }

  package var bytes: [UInt8] { littleEndianBytes(lowestReader) + littleEndianBytes(lowestWriter) }

  package init(bytes: ByteView) throws(FormatError) {
    try require(
      bytes.count == 8, "header field 'format' has \(bytes.count) bytes, must have 8",
      .headerFields)
    lowestReader = bytes.uint32(at: 0)
    lowestWriter = bytes.uint32(at: 4)
  }
}

extension RelationshipDescription {
  /// The features that the description and its trees use.
  package var features: Set<FormatFeature> {
    var features: Set<FormatFeature> = [.base, .relationship]
    if from.isOrdered || to.isOrdered { features.insert(.orderedRelationship) }
    if from.denyCondition != nil || to.denyCondition != nil {
      features.insert(.deleteRuleCondition)
    }
    return features
  }
}

extension EntityDescription {
  /// The features that the description and its records use.
  package var features: Set<FormatFeature> {
    func has(_ isUsed: (Attribute) -> Bool) -> Bool { attributes.contains(where: isUsed) }
    let found: [(FormatFeature, Bool)] = [
      (.base, true),
      // Records of old layouts also have removed attributes.
      (.recordIDAttribute, has { $0.type == .recordID }),
      (.derivation, has { $0.derivation != nil && !$0.isRemoved }),
      (.derivedCondition, has { $0.derivation?.condition != nil && !$0.isRemoved }),
      (.derivedDatePart, has { $0.derivation?.kind == .datePart && !$0.isRemoved }),
      (.nullInitial, has { $0.initial == .nullDocument }),
      (.sourceName, has { $0.source != nil && $0.source != $0.name && !$0.isRemoved }),
      (.rule, !rules.isEmpty),
      (.buildingIndex, !building.isEmpty),
      (.history, history != nil),
      (.expiry, expiry != nil),
      (.limits, limit != nil),
      (.elementIndex, computedIndexes.contains { $0.kind == .elements }),
      (.searchIndex, computedIndexes.contains { $0.kind == .search }),
      (.packedPostings, computedIndexes.contains(where: \.hasPackedPostings)),
      (.placeIndex, computedIndexes.contains { $0.kind == .place }),
      (.vectorIndex, computedIndexes.contains { $0.kind == .vector }),
      (.buildingComputedIndex, computedIndexes.contains(where: \.isBuilding)),
      (.documentMembers, has { $0.members != nil }),
      (.changedDefault, has { $0.changedDefault != nil }),
    ]
    return Set(found.filter(\.1).map(\.0))
  }
}
