import LodestoreBytes

/// The names of all trees of a store.
///
/// See Format.md, "Trees".
package enum TreeName: Hashable, Sendable {
  case header
  case catalogue
  case counters
  case records(entity: EntityNumber)
  case index(entity: EntityNumber, index: UInt32)
  case buckets
  case imports
  /// The links of a relationship, by the ids of one side.
  case links(relationship: UInt32, side: RelationshipSide)
  /// The positions of the links of each record of one side.
  case order(relationship: UInt32, side: RelationshipSide)
  /// An index over the elements of documents.
  case elements(entity: EntityNumber, index: UInt32)
  /// An index over the words of texts.
  case search(entity: EntityNumber, index: UInt32)
  /// An index over places.
  case place(entity: EntityNumber, index: UInt32)
  /// An index over vectors.
  case vector(entity: EntityNumber, index: UInt32)
  case history
  /// The digests of records, links and buckets.
  case digests
  /// The second copy of the catalogue.
  case catalogueCopy
  /// The description of a sealed file.
  case seal

  package var text: String {
    switch self {
    case .header: "lodestore"
    case .catalogue: "catalogue"
    case .counters: "counters"
    case .records(let entity): "records.\(entity)"
    case .index(let entity, let index): "index.\(entity).\(index)"
    case .buckets: "buckets"
    case .imports: "imports"
    case .links(let relationship, let side): "links.\(relationship).\(side.rawValue)"
    case .order(let relationship, let side): "order.\(relationship).\(side.rawValue)"
    case .elements(let entity, let index): "elements.\(entity).\(index)"
    case .search(let entity, let index): "search.\(entity).\(index)"
    case .place(let entity, let index): "place.\(entity).\(index)"
    case .vector(let entity, let index): "vector.\(entity).\(index)"
    case .history: "history"
    case .digests: "digests"
    case .catalogueCopy: "catalogue.copy"
    case .seal: "seal"
    }
  }

  /// Whether the keys are LMDB integer keys, which are ordered by number.
  package var hasIntegerKeys: Bool { if case .records = self { true } else { false } }

  /// Whether a store may lack the tree.
  package var isOptional: Bool {
    switch self {
    case .header, .catalogue, .counters, .records, .index, .buckets, .imports, .links, .order,
      .elements, .search, .place, .vector:
      false
    case .history, .digests, .catalogueCopy, .seal: true
    }
  }

  /// The features that a store with this tree uses.
  package var features: Set<FormatFeature> {
    switch self {
    case .digests: [.contentDigest]
    case .catalogueCopy: [.catalogueCopy]
    default: [.base]
    }
  }

  /// Parses a tree's name; `nil` if this version does not know it.
  package init?(_ text: String) {
    if let tree = Self.single.first(where: { $0.text == text }) {
      self = tree
      return
    }
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    let numbers = parts.dropFirst().compactMap { part in
      UInt32(part).flatMap { String($0) == part ? $0 : nil }
    }
    guard numbers.count == parts.count - 1, let first = numbers.first, let last = numbers.last
    else { return nil }
    switch (parts[0], numbers.count, RelationshipSide(rawValue: last)) {
    case ("records", 1, _): self = .records(entity: EntityNumber(first))
    case ("index", 2, _): self = .index(entity: EntityNumber(first), index: last)
    case ("elements", 2, _): self = .elements(entity: EntityNumber(first), index: last)
    case ("search", 2, _): self = .search(entity: EntityNumber(first), index: last)
    case ("place", 2, _): self = .place(entity: EntityNumber(first), index: last)
    case ("vector", 2, _): self = .vector(entity: EntityNumber(first), index: last)
    case ("links", 2, let side?): self = .links(relationship: first, side: side)
    case ("order", 2, let side?): self = .order(relationship: first, side: side)
    default: return nil
    }
  }

  /// The trees that exist at most once in a store.
  private static let single: [TreeName] = [
    .header, .catalogue, .counters, .buckets, .imports, .history, .digests, .catalogueCopy, .seal,
  ]
}

/// The field names of the header.
///
/// See Format.md, "Header".
package enum HeaderField: String, Sendable {
  case format, uuid, created, schema, model

  package var key: [UInt8] { Array(rawValue.utf8) }

  private static let changesPrefix = "changes."

  /// The header field that states whether the records of an entity changed since an import last
  /// relied on the records.
  package static func changes(entity: EntityNumber) -> [UInt8] {
    Array("\(changesPrefix)\(entity)".utf8)
  }

  /// The entity of a ``changes(entity:)`` field; `nil` for any other field.
  package static func changedEntity(_ key: ByteView) -> EntityNumber? {
    guard let name = String(validating: key, as: UTF8.self), name.hasPrefix(changesPrefix) else {
      return nil
    }
    let number = name.dropFirst(changesPrefix.count)
    return UInt32(number).flatMap { String($0) == number ? EntityNumber($0) : nil }
  }
}

/// The keys of the tree `counters`.
///
/// See Format.md, "Counters".
package enum CounterKey {
  package static func nextRecord(entity: EntityNumber) -> [UInt8] {
    [1] + bigEndianBytes(entity.rawValue)
  }
  /// The key of the id up to which records have entries in an index under construction.
  package static func building(entity: EntityNumber, index: UInt32) -> [UInt8] {
    [4] + bigEndianBytes(entity.rawValue) + bigEndianBytes(index)
  }
  /// The key of the id up to which records have entries in a computed index under construction.
  package static func buildingComputed(entity: EntityNumber, index: UInt32) -> [UInt8] {
    [6] + bigEndianBytes(entity.rawValue) + bigEndianBytes(index)
  }
  /// The range of the ids stored for indexes under construction.
  package static let builtRange: ClosedRange<UInt64> = 1...1 << 63
  /// The key of the total length of an entity's records, stored if its limit is in bytes.
  package static func size(entity: EntityNumber) -> [UInt8] {
    [sizeKind] + bigEndianBytes(entity.rawValue)
  }
  /// The first byte of ``size(entity:)``.
  package static let sizeKind: UInt8 = 5
  /// The entity of a ``size(entity:)`` key; `nil` for any other key.
  package static func sizedEntity(_ key: ByteView) -> EntityNumber? {
    CatalogueKey.number(key, kind: sizeKind).map { EntityNumber($0) }
  }
  package static let nextEntity: [UInt8] = [2]
  package static let nextRelationship: [UInt8] = [3]
}

/// The keys of the tree `catalogue`.
///
/// See Format.md, "Catalogue".
package enum CatalogueKey {
  package static func entity(_ number: EntityNumber) -> [UInt8] {
    [1] + bigEndianBytes(number.rawValue)
  }

  package static func relationship(_ number: UInt32) -> [UInt8] { [2] + bigEndianBytes(number) }

  /// The entity number in `key`; `nil` for any other key.
  package static func entityNumber(_ key: ByteView) -> EntityNumber? {
    number(key, kind: 1).map { EntityNumber($0) }
  }

  /// The relationship's number in `key`; `nil` for any other key.
  package static func relationshipNumber(_ key: ByteView) -> UInt32? { number(key, kind: 2) }

  fileprivate static func number(_ key: ByteView, kind: UInt8) -> UInt32? {
    guard key.count == 5, key[0] == kind else { return nil }
    return key.bigEndianUInt32(at: 1)
  }
}

/// The keys that the tree `catalogue.copy` has in addition to the keys of the catalogue.
///
/// See Format.md, "Second copy".
package enum CatalogueCopyKey {
  /// The header fields that are copied.
  package static let fields: [HeaderField] = [.uuid, .created, .model]

  package static func key(of field: HeaderField) -> [UInt8] { [0] + field.key }
}

/// The keys of the tree `buckets`.
///
/// See Format.md, "Buckets".
package enum BucketKey {
  package static let longestName = 64
  package static let longestKey = 400

  package static func prefix(bucket: String) -> [UInt8] { Array(bucket.utf8) + [0] }

  /// Splits a stored key into the bucket's name and the user's key.
  package static func split(_ key: ByteView) -> (bucket: String, key: [UInt8])? {
    guard let zero = key.firstIndex(of: 0), zero > 0, zero <= longestName,
      let name = String(validating: key[..<zero], as: UTF8.self), key.count > zero + 1
    else { return nil }
    return (name, Array(key[(zero + 1)...]))
  }
}

/// The keys of the tree `imports`.
///
/// See Format.md, "Imports".
package enum ImportKey: Sendable, Hashable {
  /// The state of an import in progress.
  case state
  /// The facts remembered about a page. The associated value is the SHA-256 of the page's name.
  case memory([UInt8])
  /// The report of a run that ended.
  case report(run: UInt64)
  /// The ids of the records of one page, in a mirror in progress.
  case seen(page: UInt64)
  /// The facts on which the remembered states of pages depend.
  case basis

  package static let longestName = BucketKey.longestName

  /// The stored key for the import `name`.
  package func bytes(name: String) -> [UInt8] {
    let prefix = Self.prefix(name: name)
    return switch self {
    case .state: prefix + [1]
    case .memory(let digest): prefix + [2] + digest
    case .report(let run): prefix + [3] + bigEndianBytes(run)
    case .seen(let page): prefix + [4] + bigEndianBytes(page)
    case .basis: prefix + [5]
    }
  }

  package static func prefix(name: String) -> [UInt8] { Array(name.utf8) + [0] }

  /// Decodes a stored key; `nil` for a form that Format.md does not list.
  package static func split(_ key: ByteView) -> (name: String, key: ImportKey)? {
    guard let (name, rest) = BucketKey.split(key), let kind = rest.first else { return nil }
    let number = rest.dropFirst().reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
    switch (kind, rest.count - 1) {
    case (1, 0): return (name, .state)
    case (2, 32): return (name, .memory(Array(rest.dropFirst())))
    case (3, 8): return (name, .report(run: number))
    case (4, 8): return (name, .seen(page: number))
    case (5, 0): return (name, .basis)
    default: return nil
    }
  }
}
