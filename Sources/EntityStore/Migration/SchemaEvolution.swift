internal import LodestoreFormat

/// Applies a program's declaration of an entity to the stored description, without side effects.
///
/// Changes whose time does not depend on the number of records:
/// - adding an attribute that is optional or has an initial value;
/// - removing (`removed`) or renaming (`originalName`) an attribute, or making it optional;
/// - another order, and other constraints and defaults, which apply only to new records.
///
/// Changes at the cost of a pass over the records, which must already fit:
/// - adding an index, or making an attribute required;
/// - members of nested documents that stored documents may lack or have in another form.
///
/// Another type is refused, and so is a new required attribute without an initial value.
///
/// An attribute of the file that is not declared stays. While there is one, undeclared indexes stay
/// too, and the order of the attributes does not change. Programs that each declare some of the
/// attributes can therefore open the file alternately without writing.
struct SchemaEvolution {
  /// The resulting description of the entity.
  var result: EntityDescription
  /// The numbers of indexes to build from the records.
  var addedIndexes: [UInt32] = []
  /// The numbers of indexes to drop.
  var droppedIndexes: [UInt32] = []
  /// The numbers of indexes whose construction starts while the store is in use.
  var startedIndexes: [UInt32] = []
  /// The numbers of indexes whose construction stops.
  var stoppedIndexes: [UInt32] = []
  private var buildsInUse = false
  /// The numbers of element indexes to build.
  var addedComputedIndexes: [UInt32] = []
  /// The numbers of element indexes to drop.
  var droppedComputedIndexes: [UInt32] = []
  /// The attributes that become required; no record may have null in them.
  var tightened: [EntityDescription.Attribute] = []
  /// The attributes whose documents must be decoded as the declared types, which may reject some.
  var reshaped: [ReshapedDocuments] = []
  /// The changes in the documents of attributes, by the attributes' numbers.
  var documentChanges: [UInt32: [DocumentOutline.Change]] = [:]
  var isChanged = false
  /// Whether the program cannot read the file before it is changed.
  var concernsReaders = false
  /// Whether history begins for an entity that already has records.
  var beginsHistory = false
  /// Whether constraints change, or the member names from which imports fill attributes.
  ///
  /// Such changes matter only to writers.
  var changesConstraints = false

  /// Creates the description of a new entity.
  init(creating declared: DeclaredEntity, number: EntityNumber) {
    result = EntityDescription(
      number: number, name: declared.name, attributes: [], layouts: [], currentLayout: 0,
      indexes: [])
    isChanged = true
    result.rules = declared.rules
    for attribute in declared.attributes { _ = add(attribute) }
    result.setCurrentLayout(result.attributes.map(\.number))
    evolveIndexes(declared, numbers: result.attributes.map(\.number), keepsOthers: false)
    evolveComputedIndexes(declared, result.attributes.map(\.number), keepsOthers: false)
    evolveExpiry(declared, result.attributes.map(\.number), keepsOthers: false)
    evolveLimit(declared, result.attributes.map(\.number), keepsOthers: false)
    evolveHistory(declared, result.attributes.map(\.number))
  }

  /// Applies another declaration to a stored entity.
  ///
  /// - Parameters:
  ///   - hasRecords: whether the entity has records, so that initial values are needed.
  ///   - buildsInUse: whether new indexes are built while the store is in use.
  ///   - linkAttributes: the numbers of attributes that hold relationships of the file; their
  ///     indexes stay.
  init(
    from stored: EntityDescription, to declared: DeclaredEntity, hasRecords: Bool,
    linkAttributes: Set<UInt32> = [], buildsInUse: Bool = false
  ) throws(StoreError) {
    result = stored
    self.buildsInUse = buildsInUse
    var numbers: [UInt32] = []
    for attribute in declared.attributes {
      numbers.append(
        try matchOrAdd(attribute, from: stored, declared: declared, hasRecords: hasRecords))
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
    result.setCurrentLayout(keepsOthers ? kept + numbers.filter { !kept.contains($0) } : numbers)
    if result.currentLayout != stored.currentLayout { isChanged = true }
    evolveExpiry(declared, numbers, keepsOthers: keepsOthers)
    evolveLimit(declared, numbers, keepsOthers: keepsOthers)
    evolveIndexes(
      declared, numbers: numbers, keepsOthers: keepsOthers, linkAttributes: linkAttributes)
    evolveComputedIndexes(declared, numbers, keepsOthers: keepsOthers)
    evolveHistory(declared, numbers)
    if result.history != stored.history {
      changesConstraints = true
      beginsHistory = stored.history == nil && hasRecords
    }
  }

  /// Applies the declared expiry.
  ///
  /// Called before the indexes are determined. The expiry's index is never built in use, because
  /// reads need it.
  private mutating func evolveExpiry(
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

  /// Applies the declared limit.
  ///
  /// Called before the indexes are determined, because an eviction needs the index of the limit.
  private mutating func evolveLimit(
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

  private mutating func evolveHistory(_ declared: DeclaredEntity, _ numbers: [UInt32]) {
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

  /// Finds the stored attribute for `attribute`, or adds it; returns its number.
  private mutating func matchOrAdd(
    _ attribute: DeclaredEntity.Attribute, from before: EntityDescription,
    declared: DeclaredEntity, hasRecords: Bool
  ) throws(StoreError) -> UInt32 {
    // A new attribute may take the old name of a renamed one.
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
        entity: declared.name, attribute: attribute.name, stored: stored.shape ?? stored.type.name,
        declared: attribute.storage.shape ?? attribute.storage.type.name,
        isWider: stored.type.widens(to: attribute.storage.type),
        isDerived: attribute.derivation != nil)
    }
    evolveDocuments(index, attribute, keepsOthers: declared.isPartial, hasRecords: hasRecords)
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
    evolveDefault(index, attribute, isPartial: declared.isPartial)
    if stored.constraints != attribute.constraints,
      !declared.isPartial || !attribute.constraints.isEmpty
    {
      result.attributes[index].constraints = attribute.constraints
      changesConstraints = true
    }
    return stored.number
  }

  /// Applies the declared default to new records.
  ///
  /// The initial value stays, because records that are older than the attribute have it.
  private mutating func evolveDefault(
    _ index: Int, _ attribute: DeclaredEntity.Attribute, isPartial: Bool
  ) {
    let stored = result.attributes[index]
    guard attribute.derivation == nil, stored.derivation == nil,
      !attribute.initial.isSame(as: stored.defaultValue), !isPartial || attribute.initial != .null
    else { return }
    if attribute.initial == .nullDocument {
      // In the catalogue, a null `default` means no default. If no record is older than the
      // attribute, JSON's null can be its initial value.
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

  /// Applies the outline of the declared type, which describes the members of its documents, to the
  /// attribute at `index`.
  private mutating func evolveDocuments(
    _ index: Int, _ attribute: DeclaredEntity.Attribute, keepsOthers: Bool, hasRecords: Bool
  ) {
    let stored = result.attributes[index]
    guard stored.type == .document, let shape = attribute.storage.shape,
      let members = attribute.storage.members
    else { return }
    var changes: [DocumentOutline.Change] = []
    if let before = stored.members {
      changes = members.changes(from: before)
      result.attributes[index].members = members.merged(over: before, keepsOthers: keepsOthers)
    } else {
      result.attributes[index].members = members
      // Without an outline, only the name distinguishes two types.
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

  private mutating func evolveComputedIndexes(
    _ declared: DeclaredEntity, _ numbers: [UInt32], keepsOthers: Bool
  ) {
    var kept: [EntityDescription.ComputedIndex] = []
    var nextNumber = (result.computedIndexes.map(\.number).max() ?? 0) &+ 1
    for index in declared.computedIndexes {
      var wanted = index.described(number: nextNumber, numbers)
      wanted.isBuilding = buildsInUse
      if let stored = result.computedIndexes.first(where: {
        $0.isEqual(to: wanted) && (buildsInUse || !$0.isBuilding)
      }) {
        kept.append(stored)
      } else {
        kept.append(wanted)
        if !buildsInUse { addedComputedIndexes.append(nextNumber) }
        nextNumber &+= 1
      }
    }
    for stored in result.computedIndexes where !kept.contains(stored) {
      let isKept =
        if let equal = kept.first(where: { $0.isEqual(to: stored) }) {
          buildsInUse && result.replacement(of: equal) == stored
        } else {
          keepsOthers
            && stored.sources.allSatisfy {
              result.attribute(number: $0.attribute)?.isRemoved == false
            }
        }
      if isKept {
        kept.append(stored)
      } else {
        droppedComputedIndexes.append(stored.number)
      }
    }
    if Set(kept) != Set(result.computedIndexes) { isChanged = true }
    result.computedIndexes = kept.sorted { $0.number < $1.number }
  }

  /// - Parameter keepsOthers: whether undeclared indexes stay.
  private mutating func evolveIndexes(
    _ declared: DeclaredEntity, numbers: [UInt32], keepsOthers: Bool,
    linkAttributes: Set<UInt32> = []
  ) {
    var kept: [EntityDescription.Index] = []
    // Numbers are not reused, so that the tree of a dropped index is never mistaken for a new one.
    var nextNumber = ((result.indexes + result.building).map(\.number).max() ?? 0) &+ 1
    var building: [EntityDescription.Index] = []
    for index in declared.indexes {
      let attributes = index.attributes.map { numbers[$0] }
      if let stored = result.indexes.first(where: {
        $0.attributes == attributes && ($0.isUnique == index.isUnique || keepsOthers && $0.isUnique)
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
      let isHeld = stored.attributes.count == 1 && linkAttributes.contains(stored.attributes[0])
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

  /// Returns whether a new index on `attributes` is built while the store is in use.
  ///
  /// Indexes of relationships, of the expiry and of the limit are never built in use.
  private func isBuiltInUse(_ attributes: [UInt32]) -> Bool {
    let evicting = [result.expiry?.attribute, result.limit?.attribute].compactMap { $0 }
    guard buildsInUse, !evicting.contains(where: { attributes == [$0] }) else { return false }
    return attributes.count > 1 || result.attribute(number: attributes[0])?.type != .recordID
  }
}

extension EntityDescription {
  /// Sets the layout of new records to the attributes with these numbers, in this order.
  mutating func setCurrentLayout(_ numbers: [UInt32]) {
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
  /// Returns whether the values are equal or have equal stored bytes.
  ///
  /// Two NaN values may have equal bytes, and are never equal.
  fileprivate func isSame(as other: Value) -> Bool {
    self == other
      || EntityDescription.document(of: self).encoded()
        == EntityDescription.document(of: other).encoded()
  }
}
