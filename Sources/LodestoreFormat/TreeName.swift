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
  /// The links of a relationship as they lead away from one of its sides.
  case links(relationship: UInt32, side: RelationshipSide)
  /// The positions of what each record of one side of a relationship leads to.
  case order(relationship: UInt32, side: RelationshipSide)
  /// An index over the elements of documents.
  case elements(entity: EntityNumber, index: UInt32)
  case history
  /// The digests of records, links and buckets.
  case digests
  /// The second copy of the catalogue.
  case catalogueCopy
  /// What a sealed file says of itself.
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
    case .history: "history"
    case .digests: "digests"
    case .catalogueCopy: "catalogue.copy"
    case .seal: "seal"
    }
  }

  /// Whether the keys are ids as LMDB takes them, which are ordered by number.
  package var hasIntegerKeys: Bool { if case .records = self { true } else { false } }

  /// Whether a store may be without the tree.
  package var isOptional: Bool {
    switch self {
    case .header, .catalogue, .counters, .records, .index, .buckets, .imports, .links, .order,
      .elements:
      false
    case .history, .digests, .catalogueCopy, .seal: true
    }
  }

  /// What a store uses of the format that has the tree.
  package var features: Set<FormatFeature> {
    switch self {
    case .digests: [.contentDigest]
    case .catalogueCopy: [.catalogueCopy]
    default: [.base]
    }
  }

  /// The tree that `text` names; `nil` for a name that this version does not know.
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
    case ("links", 2, let side?): self = .links(relationship: first, side: side)
    case ("order", 2, let side?): self = .order(relationship: first, side: side)
    default: return nil
    }
  }

  /// The trees that a store has once.
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

  /// The field that says whether records of an entity were changed since an import relied on them.
  package static func changes(entity: EntityNumber) -> [UInt8] {
    Array("\(changesPrefix)\(entity)".utf8)
  }

  /// The entity that such a field is of; `nil` for any other field.
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
  /// The id up to which the records have entries in an index that is being built.
  package static func building(entity: EntityNumber, index: UInt32) -> [UInt8] {
    [4] + bigEndianBytes(entity.rawValue) + bigEndianBytes(index)
  }
  /// What ``building(entity:index:)`` may lead to.
  package static let builtRange: ClosedRange<UInt64> = 1...1 << 63
  /// The sum of the lengths of the records of an entity whose limit is one of bytes.
  package static func size(entity: EntityNumber) -> [UInt8] {
    [sizeKind] + bigEndianBytes(entity.rawValue)
  }
  /// The first byte of ``size(entity:)``.
  package static let sizeKind: UInt8 = 5
  /// The entity whose size `key` has; `nil` for any other key.
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

  package static func relationship(_ number: UInt32) -> [UInt8] {
    [2] + bigEndianBytes(number)
  }

  /// The entity number in `key`; `nil` for any other key.
  package static func entityNumber(_ key: ByteView) -> EntityNumber? {
    number(key, kind: 1).map { EntityNumber($0) }
  }

  /// The relationship's number in `key`; `nil` for any other key.
  package static func relationshipNumber(_ key: ByteView) -> UInt32? {
    number(key, kind: 2)
  }

  fileprivate static func number(_ key: ByteView, kind: UInt8) -> UInt32? {
    guard key.count == 5, key[0] == kind else { return nil }
    return key.bigEndianUInt32(at: 1)
  }
}

/// The keys of the tree `catalogue.copy` that the catalogue does not have.
///
/// See Format.md, "Second copy".
package enum CatalogueCopyKey {
  /// The fields of the header that are copied.
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
  /// An import that has not ended.
  case state
  /// What is remembered of the page with this SHA-256 of its name.
  case memory([UInt8])
  /// The report of a run that ended.
  case report(run: UInt64)
  /// The ids of the records of a page, in a mirror that has not ended.
  case seen(page: UInt64)
  /// What the memories of pages depend on.
  case basis

  package static let longestName = BucketKey.longestName

  /// The key under which import `name` keeps it.
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

  /// Splits a stored key; `nil` for one that Format.md does not list.
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
