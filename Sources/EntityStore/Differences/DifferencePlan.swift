internal import LMDB
internal import LodestoreFormat

/// The parts of two commits that are compared, and the rules of the comparison.
struct DifferencePlan {
  let older: TransactionCore
  let newer: TransactionCore
  let matching: DifferenceMatching
  /// The names of the entities to compare; `nil` for everything.
  let entities: Set<String>?
  private let digests: (older: Digests, newer: Digests)
  private let isOneLineage: Bool
  /// The attributes and relationships that ``DifferenceMatching/uniqueKey`` excludes from the steps
  /// created so far.
  private(set) var uncompared: [String] = []

  init(
    _ older: TransactionCore, _ newer: TransactionCore, _ matching: DifferenceMatching,
    entities: Set<String>?
  ) throws {
    self.older = older
    self.newer = newer
    self.matching = matching
    self.entities = entities
    digests = (Digests(older), Digests(newer))
    isOneLineage = try HistoryLog(older).storeID() == HistoryLog(newer).storeID()
  }

  /// The digests of one file.
  private struct Digests {
    private let core: TransactionCore
    private let tree: Tree?

    init(_ core: TransactionCore) {
      self.core = core
      tree = core.tree(.digests)
    }

    /// The digest of one part of the content, such as the records of an entity; `nil` when the file
    /// has no digests.
    subscript(content: DigestedContent) -> ContentDigest? {
      get throws {
        guard let tree else { return nil }
        guard let bytes = try core.transaction.get(content.key, in: tree) else {
          return ContentDigest()
        }
        return ContentDigest(bytes: bytes)
      }
    }
  }

  private func haveEqualDigests(
    _ content: DigestedContent, _ other: DigestedContent
  ) throws -> Bool {
    guard let old = try digests.older[content], let new = try digests.newer[other] else {
      return false
    }
    return old == new
  }

  // MARK: Records

  /// The entities of the newer store in the order of their numbers, followed by removed ones.
  private var names: [String] {
    let names = newer.schema.entities.map(\.name)
    let gone = older.schema.entities.map(\.name).filter { newer.schema.entity(named: $0) == nil }
    return (names + gone).filter { entities?.contains($0) ?? true }
  }

  mutating func recordSteps() throws -> [DifferencePass.Step] {
    var steps: [DifferencePass.Step] = []
    for name in names {
      let (old, new) = (older.schema.entity(named: name), newer.schema.entity(named: name))
      if matching.isByKey, let old, let new {
        steps.append(.keys(try keyedPair(name, old, new)))
        continue
      }
      let pair = EntityPair(name, old, new, isOneLineage: isOneLineage)
      if let old, let new, pair.isDecidedByDigest,
        try haveEqualDigests(.records(entity: old.number), .records(entity: new.number)),
        try older.expired(of: old)?.ids == newer.expired(of: new)?.ids
      {
        continue
      }
      steps.append(.records(pair))
    }
    return steps
  }

  // MARK: Keys

  private mutating func keyedPair(
    _ name: String, _ old: StoredEntity, _ new: StoredEntity
  ) throws -> KeyedPair {
    var names: [String]?
    if case .uniqueKey(let given) = matching.rule { names = given }
    guard let key = key(of: old, new, named: names) else {
      throw StoreError(
        .unknownIndex,
        "cannot match the records of \(name) by a unique key: "
          + (names.map { "not both stores have a unique index over \($0.joined(separator: ", "))" }
            ?? "the stores have no unique index in common")
          + "; match them by id, or declare one", entity: name)
    }
    var left: [String] = []
    let pair = EntityPair(name, old, new, isOneLineage: false) { before, after in
      guard before.type == .recordID || after.type == .recordID else { return .asStored }
      guard let target = target(before, old, after, new) else {
        left.append("\(name).\(after.name)")
        return .none
      }
      return .byTarget(target)
    }
    uncompared += left
    return KeyedPair(pair: pair, older: key.older, newer: key.newer)
  }

  /// Returns a unique index that both entities have: the first whose attributes are all required,
  /// or else the first of all.
  private func key(
    of old: StoredEntity, _ new: StoredEntity, named wanted: [String]? = nil
  ) -> (older: StoredIndex, newer: StoredIndex)? {
    var found: (older: StoredIndex, newer: StoredIndex, isRequired: Bool)?
    for index in new.indexes where index.isUnique {
      let attributes = index.description.attributes.compactMap {
        new.description.attribute(number: $0)
      }
      if let wanted, attributes.map(\.name) != wanted { continue }
      let others = attributes.compactMap { old.description.attribute(named: $0.name) }
      guard others.count == attributes.count,
        zip(attributes, others).allSatisfy({ $0.type == $1.type && $0.type != .recordID }),
        let other = old.indexes.first(where: {
          $0.isUnique && $0.description.attributes == others.map(\.number)
        })
      else { continue }
      let isRequired = !(attributes + others).contains(where: \.isOptional)
      if found == nil || isRequired && found?.isRequired == false {
        found = (other, index, isRequired)
      }
    }
    return found.map { ($0.older, $0.newer) }
  }

  /// Returns the key by which the targets of an attribute are identified.
  private func target(
    _ before: EntityDescription.Attribute, _ old: StoredEntity,
    _ after: EntityDescription.Attribute, _ new: StoredEntity
  ) -> TargetKey? {
    func end(
      _ attribute: EntityDescription.Attribute, _ entity: StoredEntity, _ schema: StoredSchema
    ) -> StoredEntity? {
      schema.ends(of: entity).first { $0.attribute?.number == attribute.number }?.target
    }
    guard let oldTarget = end(before, old, older.schema),
      let newTarget = end(after, new, newer.schema), oldTarget.name == newTarget.name,
      let key = key(of: oldTarget, newTarget)
    else { return nil }
    return TargetKey(
      older: TargetKey.KeyedEntity(oldTarget, key.older),
      newer: TargetKey.KeyedEntity(newTarget, key.newer))
  }

  // MARK: Links, orders and buckets

  mutating func otherSteps() throws -> [DifferencePass.Step] {
    let relationships = relationshipPairs()
    if matching.isByKey {
      uncompared += relationships.filter(\.hasLinks).map(\.label)
      return entities == nil ? try bucketSteps() : []
    }
    var steps: [DifferencePass.Step] = []
    for pair in relationships where pair.hasLinks {
      if let old = pair.older, let new = pair.newer,
        try haveEqualDigests(
          .links(relationship: old.description.number),
          .links(relationship: new.description.number)),
        try ExpiredLinks(old, older).areAll(of: ExpiredLinks(new, newer))
      {
        continue
      }
      steps.append(.links(pair))
    }
    for pair in relationships {
      for side in RelationshipSide.allCases {
        guard let old = pair.older?.end(side), let new = pair.newer?.end(side), old.order != nil,
          new.order != nil
        else { continue }
        steps.append(.order(OrderPair(older: old, newer: new)))
      }
    }
    return entities == nil ? steps + (try bucketSteps()) : steps
  }

  private func bucketSteps() throws -> [DifferencePass.Step] {
    try haveEqualDigests(.buckets, .buckets) ? [] : [.buckets]
  }

  /// The relationships of the newer store in the order of their numbers, followed by removed ones.
  private func relationshipPairs() -> [RelationshipPair] {
    var left = older.schema.relationships
    var pairs: [RelationshipPair] = []
    for relationship in newer.schema.relationships {
      let identity = relationship.identity
      let position = left.firstIndex { $0.identity == identity }
      pairs.append(
        RelationshipPair(older: position.map { left.remove(at: $0) }, newer: relationship))
    }
    pairs += left.map { RelationshipPair(older: $0, newer: nil) }
    guard let entities else { return pairs }
    return pairs.filter { pair in
      guard let one = pair.newer ?? pair.older else { return false }
      return entities.contains(one.from.name) || entities.contains(one.to.name)
    }
  }
}

extension StoredRelationship {
  /// The identity of a relationship across stores: its entities, names and attribute.
  fileprivate var identity: [String?] {
    let (from, to) = (end(.from), end(.to))
    return [from.source.name, from.name, to.source.name, to.name, from.attribute?.name]
  }
}
