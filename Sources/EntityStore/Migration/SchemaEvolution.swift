internal import LodestoreFormat

/// The stored form of an entity after a program has declared it: pure, so that the rules are one
/// page.
///
/// - Free in the number of records: adding an attribute that is optional or has an initial value;
///   removing (`removed`) or renaming (`originalName`) an attribute, or making it optional; another
///   order; other constraints and defaults, for new records alone.
/// - At the cost of a pass over the records: adding an index; making an attribute required; members
///   of nested documents that stored documents may lack or have in another form. The records must
///   fit already.
/// - Refused: another type, and an added required attribute without an initial value.
///
/// An attribute of the file that is not declared stays. While there is one, indexes that are not
/// declared stay too, and the order of the attributes stays as it is. So programs with a part of
/// the attributes each can open the file in turn, and nothing is written.
struct SchemaEvolution {
  /// The entity as it will be described.
  var result: EntityDescription
  /// Numbers of indexes that must be built from the records.
  var addedIndexes: [UInt32] = []
  /// Numbers of indexes that must be dropped.
  var droppedIndexes: [UInt32] = []
  /// Numbers of indexes that are built while the store is used: new ones, and dropped ones.
  var startedIndexes: [UInt32] = []
  var stoppedIndexes: [UInt32] = []
  private var buildsInUse = false
  /// Numbers of indexes over elements that must be built, and dropped.
  var addedElementIndexes: [UInt32] = []
  var droppedElementIndexes: [UInt32] = []
  /// Attributes that become required: no record may be null there.
  var tightened: [EntityDescription.Attribute] = []
  /// Attributes whose documents have to be read by the declared types, which may not take all of
  /// them.
  var reshaped: [ReshapedDocuments] = []
  /// The changes in the documents of attributes, by the attributes' numbers.
  var documentChanges: [UInt32: [DocumentOutline.Change]] = [:]
  var isChanged = false
  /// Whether the program cannot read the file before it is changed.
  var concernsReaders = false
  /// Whether the history begins here for an entity that has records.
  var beginsHistory = false
  /// Whether constraints, or the members that imports fill attributes from, change: they matter to
  /// writers alone.
  var changesConstraints = false

  /// A new entity.
  init(creating declared: DeclaredEntity, number: EntityNumber) {
    result = EntityDescription(
      number: number, name: declared.name, attributes: [], layouts: [], currentLayout: 0,
      indexes: [])
    isChanged = true
    result.rules = declared.rules
    for attribute in declared.attributes { _ = add(attribute) }
    result.settleLayout(result.attributes.map(\.number))
    settleIndexes(declared, numbers: result.attributes.map(\.number), keepsOthers: false)
    settleElementIndexes(declared, result.attributes.map(\.number), keepsOthers: false)
    settleExpiry(declared, result.attributes.map(\.number), keepsOthers: false)
    settleLimit(declared, result.attributes.map(\.number), keepsOthers: false)
    settleHistory(declared, result.attributes.map(\.number))
  }

  /// A stored entity with another declaration.
  ///
  /// - Parameters:
  ///   - hasRecords: decides whether an initial value is needed.
  ///   - buildsInUse: whether new indexes are built while the store is used.
  ///   - held: the numbers of the attributes that relationships of the file are held by; their indexes
  ///     stay.
  init(
    from stored: EntityDescription, to declared: DeclaredEntity, hasRecords: Bool,
    held: Set<UInt32> = [], buildsInUse: Bool = false
  ) throws(StoreError) {
    result = stored
    self.buildsInUse = buildsInUse
    var numbers: [UInt32] = []
    for attribute in declared.attributes {
      numbers.append(
        try settle(attribute, from: stored, declared: declared, hasRecords: hasRecords))
    }
    for i in result.attributes.indices
    where !result.attributes[i].isRemoved && !numbers.contains(result.attributes[i].number)
      && declared.removed.contains(result.attributes[i].name)
    {
      result.attributes[i].isRemoved = true
      isChanged = true
    }
    let live = result.attributes.filter { !$0.isRemoved && $0.source != $0.name }
    try EntityDescription.checkSources(live.map { ($0.name, $0.source) }, of: declared.name)
    let kept = stored.layout.attributes.map(\.number).filter { number in
      result.attribute(number: number)?.isRemoved == false
    }
    let keepsOthers = declared.isPartial || !kept.allSatisfy { numbers.contains($0) }
    result.renameInRules(since: stored)
    if result.rules != declared.rules, !keepsOthers || !declared.rules.isEmpty {
      result.rules = declared.rules
      changesConstraints = true
    }
    result.settleLayout(keepsOthers ? kept + numbers.filter { !kept.contains($0) } : numbers)
    if result.currentLayout != stored.currentLayout { isChanged = true }
    settleExpiry(declared, numbers, keepsOthers: keepsOthers)
    settleLimit(declared, numbers, keepsOthers: keepsOthers)
    settleIndexes(declared, numbers: numbers, keepsOthers: keepsOthers, held: held)
    settleElementIndexes(declared, numbers, keepsOthers: keepsOthers)
    settleHistory(declared, numbers)
    if result.history != stored.history {
      changesConstraints = true
      beginsHistory = stored.history == nil && hasRecords
    }
  }

  /// Makes records expire as declared.
  ///
  /// Called before the indexes are settled: the one of the expiry is never built in use, since
  /// reads need it.
  private mutating func settleExpiry(
    _ declared: DeclaredEntity, _ numbers: [UInt32], keepsOthers: Bool
  ) {
    let before = result.expiry
    if let position = declared.expiry {
      let number = numbers[position]
      if before?.attribute != number { result.expiry = .init(attribute: number) }
    } else if !keepsOthers {
      result.expiry = nil
    }
    if let expiry = result.expiry, result.attribute(number: expiry.attribute)?.isRemoved != false {
      result.expiry = nil
    }
    if result.expiry != before { isChanged = true }
  }

  /// Limits the records as declared.
  ///
  /// Called before the indexes are settled: an eviction needs the index of the limit.
  private mutating func settleLimit(
    _ declared: DeclaredEntity, _ numbers: [UInt32], keepsOthers: Bool
  ) {
    let before = result.limit
    if let limit = declared.limit {
      result.limit = .init(
        count: limit.count, byteCount: limit.byteCount,
        attribute: limit.attribute.map { numbers[$0] })
    } else if !keepsOthers {
      result.limit = nil
    }
    if let number = result.limit?.attribute, result.attribute(number: number)?.isRemoved != false {
      result.limit = nil
    }
    if result.limit != before { isChanged = true }
  }

  private mutating func settleHistory(_ declared: DeclaredEntity, _ numbers: [UInt32]) {
    switch declared.history {
    case .off: result.history = nil
    case .kept(let images, let preserved):
      result.history = EntityDescription.History(
        keepsImages: images, preserved: Set(preserved.map { numbers[$0] }).sorted())
    case nil: break
    }
    guard var history = result.history else { return }
    history.preserved.removeAll { result.attribute(number: $0)?.isRemoved != false }
    result.history = history
  }

  /// Finds the stored attribute that `attribute` is, or adds it; returns its number.
  private mutating func settle(
    _ attribute: DeclaredEntity.Attribute, from before: EntityDescription,
    declared: DeclaredEntity, hasRecords: Bool
  ) throws(StoreError) -> UInt32 {
    // A new attribute may take a name that another, renamed one gives up.
    let isGivenUp = declared.attributes.contains { other in
      other.originalName == attribute.name && other.name != attribute.name
        && !before.attributes.contains { $0.name == other.name && !$0.isRemoved }
    }
    let byName =
      isGivenUp
      ? nil : result.attributes.firstIndex { $0.name == attribute.name && !$0.isRemoved }
    let byOriginalName = result.attributes.firstIndex {
      $0.name == attribute.originalName && !$0.isRemoved
    }
    guard let index = byName ?? byOriginalName else {
      guard attribute.storage.isOptional || attribute.initial != .null || !hasRecords else {
        throw .missingInitialValue(entity: declared.name, attribute: attribute.name)
      }
      isChanged = true
      concernsReaders = true
      return add(attribute)
    }
    let stored = result.attributes[index]
    guard stored.type == attribute.storage.type else {
      throw .typeChanged(
        entity: declared.name, attribute: attribute.name,
        stored: stored.shape ?? stored.type.name,
        declared: attribute.storage.shape ?? attribute.storage.type.name,
        isWider: stored.type.widens(to: attribute.storage.type),
        isDerived: attribute.derivation != nil)
    }
    settleDocuments(index, attribute, keepsOthers: declared.isPartial, hasRecords: hasRecords)
    if stored.name != attribute.name {
      result.attributes[index].name = attribute.name
      isChanged = true
      concernsReaders = true
    }
    if let source = attribute.source, source != stored.source ?? stored.name {
      result.attributes[index].source = source == attribute.name ? nil : source
      changesConstraints = true
    }
    if stored.isOptional != attribute.storage.isOptional {
      result.attributes[index].isOptional = attribute.storage.isOptional
      isChanged = true
      concernsReaders = true
      if stored.isOptional { tightened.append(stored) }
    }
    settleDefault(index, attribute, isPartial: declared.isPartial)
    if stored.constraints != attribute.constraints,
      !declared.isPartial || !attribute.constraints.isEmpty
    {
      result.attributes[index].constraints = attribute.constraints
      changesConstraints = true
    }
    return stored.number
  }

  /// Makes the declared default that of new records.
  ///
  /// The initial value stays: records that are older than the attribute have it.
  private mutating func settleDefault(
    _ index: Int, _ attribute: DeclaredEntity.Attribute, isPartial: Bool
  ) {
    let stored = result.attributes[index]
    guard attribute.derivation == nil, stored.derivation == nil,
      !attribute.initial.isSame(as: stored.defaultValue), !isPartial || attribute.initial != .null
    else { return }
    if attribute.initial == .nullDocument {
      // The catalogue's `default` has null for none. Where no record is older than the attribute,
      // JSON's null can be the initial value itself.
      guard stored.initial == .null else { return }
      result.attributes[index].initial = attribute.initial
      result.attributes[index].changedDefault = nil
      changesConstraints = true
      return
    }
    result.attributes[index].changedDefault =
      attribute.initial.isSame(as: stored.initial) ? nil : attribute.initial
    changesConstraints = true
  }

  /// Describes the documents of the attribute at `index` by the declared type.
  private mutating func settleDocuments(
    _ index: Int, _ attribute: DeclaredEntity.Attribute, keepsOthers: Bool, hasRecords: Bool
  ) {
    let stored = result.attributes[index]
    guard stored.type == .document, let shape = attribute.storage.shape,
      let members = attribute.storage.members
    else { return }
    var changes: [DocumentOutline.Change] = []
    if let before = stored.members {
      changes = members.changes(from: before)
      result.attributes[index].members = members.settled(over: before, keepsOthers: keepsOthers)
    } else {
      result.attributes[index].members = members
      // Without a description the name is all there is to tell one type from another.
      if let name = stored.shape, name != shape {
        changes.append(.init(text: "the type was \(name)", fits: false))
      }
    }
    documentChanges[stored.number] = changes
    result.attributes[index].shape = shape
    if result.attributes[index] != stored { isChanged = true }
    guard changes.contains(where: { !$0.fits }) else { return }
    concernsReaders = true
    guard hasRecords else { return }
    reshaped.append(
      ReshapedDocuments(
        number: stored.number, name: attribute.name, type: attribute.storage.documentType,
        shape: shape, changes: changes.filter { !$0.fits }.map(\.text)))
  }

  private mutating func add(_ attribute: DeclaredEntity.Attribute) -> UInt32 {
    let number = (result.attributes.map(\.number).max() ?? 0) + 1
    result.attributes.append(
      EntityDescription.Attribute(
        number: number, name: attribute.name,
        source: attribute.source == attribute.name ? nil : attribute.source,
        type: attribute.storage.type, isOptional: attribute.storage.isOptional,
        shape: attribute.storage.shape, members: attribute.storage.members,
        initial: attribute.initial, constraints: attribute.constraints))
    return number
  }

  private mutating func settleElementIndexes(
    _ declared: DeclaredEntity, _ numbers: [UInt32], keepsOthers: Bool
  ) {
    var kept: [EntityDescription.ElementIndex] = []
    var nextNumber = (result.elementIndexes.map(\.number).max() ?? 0) &+ 1
    for index in declared.elementIndexes {
      let attribute = numbers[index.attribute]
      if let stored = result.elementIndexes.first(where: {
        $0.attribute == attribute && index.path.hasSameBytes(as: $0.path)
      }) {
        kept.append(stored)
      } else {
        kept.append(.init(number: nextNumber, attribute: attribute, path: index.path))
        addedElementIndexes.append(nextNumber)
        nextNumber &+= 1
      }
    }
    for stored in result.elementIndexes where !kept.contains(stored) {
      if keepsOthers, result.attribute(number: stored.attribute)?.isRemoved == false {
        kept.append(stored)
      } else {
        droppedElementIndexes.append(stored.number)
      }
    }
    if Set(kept) != Set(result.elementIndexes) { isChanged = true }
    result.elementIndexes = kept.sorted { $0.number < $1.number }
  }

  /// - Parameter keepsOthers: whether indexes that are not declared stay.
  private mutating func settleIndexes(
    _ declared: DeclaredEntity, numbers: [UInt32], keepsOthers: Bool, held: Set<UInt32> = []
  ) {
    var kept: [EntityDescription.Index] = []
    // Numbers are not reused, so that the tree of a dropped index is never taken for a new one.
    var nextNumber = ((result.indexes + result.building).map(\.number).max() ?? 0) &+ 1
    var building: [EntityDescription.Index] = []
    for index in declared.indexes {
      let attributes = index.attributes.map { numbers[$0] }
      if let stored = result.indexes.first(where: {
        $0.attributes == attributes
          && ($0.isUnique == index.isUnique || keepsOthers && $0.isUnique)
      }) {
        kept.append(stored)
      } else if isBuiltInUse(attributes),
        let begun = result.building.first(where: {
          $0.attributes == attributes && $0.isUnique == index.isUnique
        })
      {
        building.append(begun)
      } else if isBuiltInUse(attributes) {
        building.append(.init(number: nextNumber, attributes: attributes, isUnique: index.isUnique))
        startedIndexes.append(nextNumber)
        nextNumber &+= 1
      } else {
        kept.append(.init(number: nextNumber, attributes: attributes, isUnique: index.isUnique))
        addedIndexes.append(nextNumber)
        concernsReaders = true
        nextNumber &+= 1
      }
    }
    for stored in result.indexes where !kept.contains(stored) {
      let isAlive = stored.attributes.allSatisfy {
        result.attribute(number: $0)?.isRemoved == false
      }
      let isHeld = stored.attributes.count == 1 && held.contains(stored.attributes[0])
      if (keepsOthers || isHeld) && isAlive {
        kept.append(stored)
      } else {
        droppedIndexes.append(stored.number)
      }
    }
    if Set(kept) != Set(result.indexes) { isChanged = true }
    result.indexes = kept.sorted { $0.number < $1.number }
    for begun in result.building where !building.contains(begun) {
      let isWanted = keepsOthers && !kept.contains { $0.attributes == begun.attributes }
      if isWanted, begun.attributes.allSatisfy({ result.attribute(number: $0)?.isRemoved == false })
      {
        building.append(begun)
      } else {
        stoppedIndexes.append(begun.number)
      }
    }
    if building != result.building { isChanged = true }
    result.building = building
  }

  /// Whether a new index over `attributes` is built while the store is used; relationships need
  /// theirs.
  private func isBuiltInUse(_ attributes: [UInt32]) -> Bool {
    let evicting = [result.expiry?.attribute, result.limit?.attribute].compactMap { $0 }
    guard buildsInUse, !evicting.contains(where: { attributes == [$0] }) else { return false }
    return attributes.count > 1
      || result.attribute(number: attributes[0])?.type != .recordID
  }
}

extension EntityDescription {
  /// New records have the attributes with these numbers in this order.
  mutating func settleLayout(_ numbers: [UInt32]) {
    let wanted = numbers.compactMap { number in
      attribute(number: number).map {
        RecordLayout.Attribute(number: number, type: $0.type, isOptional: $0.isOptional)
      }
    }
    if let same = layouts.first(where: { $0.attributes == wanted }) {
      currentLayout = same.number
      return
    }
    let number = (layouts.map(\.number).max() ?? 0) + 1
    layouts.append(RecordLayout(number: number, attributes: wanted))
    currentLayout = number
  }
}

extension Value {
  /// Whether the values are stored as the same bytes, as two that are not a number are.
  fileprivate func isSame(as other: Value) -> Bool {
    self == other
      || EntityDescription.document(of: self).encoded()
        == EntityDescription.document(of: other).encoded()
  }
}
