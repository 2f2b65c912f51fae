internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

extension ReadableTransaction where Self: ~Copyable {
  /// The record as it was before a write updated or deleted it; `nil` for an insert, and where none was kept.
  ///
  /// Kept where ``HistoryPolicy/kept(preserving:images:)`` asks for images, until the write is purged.
  public func value<E: Entity>(
    before change: HistoryChange, as _: E.Type = E.self
  ) throws(StoreError) -> E? {
    let entity = try access.core.entity(E.self, of: change)
    guard change.kind != .inserted,
      let bytes = try HistoryLog(access.core).image(change.imageKey(entity))
    else { return nil }
    return try access.core.decodeImage(E.self, bytes, of: change, entity)
  }

  /// The record as it was after a write inserted or updated it; `nil` for a delete, and where a later write
  /// has changed it and no image was kept.
  ///
  /// That is the image before the next change of the record, or the record as it is where there is none: an
  /// entity that has kept images without a break since.
  public func value<E: Entity>(
    after change: HistoryChange, as _: E.Type = E.self
  ) throws(StoreError) -> E? {
    let entity = try access.core.entity(E.self, of: change)
    guard change.kind != .deleted else { return nil }
    if let image = try HistoryLog(access.core).nextImage(of: change, entity) {
      return try access.core.decodeImage(E.self, image, of: change, entity)
    }
    guard let bytes = try access.core.record(change.recordID, of: entity) else { return nil }
    return try access.core.decode(E.self, bytes, id: change.recordID, of: entity)
  }

  /// The value that an attribute had in a record that was deleted; `nil` where it was not kept.
  ///
  ///     let title = try snapshot.preserved(\Film.Attributes.title, of: change)
  ///
  /// Kept for the attributes that ``HistoryPolicy/kept(preserving:images:)`` names, until the write is purged.
  public func preserved<E: Entity, V>(
    _ path: KeyPath<E.Attributes, Attribute<E, V>>, of change: HistoryChange
  ) throws(StoreError) -> V? {
    let core = access.core
    let entity = try core.entity(E.self, of: change)
    let attribute = E.attributes[keyPath: path]
    guard
      let described = entity.description.attribute(named: attribute.attributeName),
      let kept = try HistoryLog(core).value(
        .tombstone(entity: entity.number, id: change.recordID, transaction: change.image)),
      let document = kept["\(described.number)"]
    else { return nil }
    let value =
      document == .null ? Value.null : EntityDescription.value(of: document, for: described.type)
    return attribute.coding.load(StoredValue(value))
  }
}

extension TransactionCore {
  /// The entity of `E`, which the change must be of.
  fileprivate func entity<E: Entity>(
    _: E.Type, of change: HistoryChange
  ) throws(StoreError) -> StoredEntity {
    let entity = try entity(E.self)
    guard entity.number.rawValue == change.entityNumber else {
      throw .badQuery("the change is one of \(change.entity), not of \(entity.name)")
    }
    return entity
  }
}

extension TransactionCore {
  /// - Throws: ``StoreError/Code/undecodableValue`` where the image has no value of an attribute that is required
  ///   since.
  fileprivate func decodeImage<E: Entity>(
    _: E.Type, _ bytes: ByteView, of change: HistoryChange, _ entity: StoredEntity
  ) throws(StoreError) -> E {
    let view = try entity.view(bytes, id: change.recordID)
    if let lacking = try entity.attribute(lackingIn: view) {
      throw StoreError(
        .undecodableValue,
        "cannot read \(entity.name) \(change.recordID) as it was: it has no value in '\(lacking)', "
          + "which is required since; make that attribute optional to read it",
        entity: entity.name, attribute: lacking, recordID: change.recordID)
    }
    return try decode(E.self, bytes, id: change.recordID, of: entity)
  }
}

extension StoredEntity {
  /// The name of an attribute that is required and has no value in a record of an earlier layout; `nil` for none.
  ///
  /// - Parameter numbers: of the attributes that are looked at; `nil` for all.
  func attribute(
    lackingIn view: RecordView, among numbers: [UInt32]? = nil
  ) throws(StoreError) -> String? {
    if view.layout === layout { return nil }
    return try wrappingErrors {
      for (attribute, value) in zip(layout.attributes, try values(of: view))
      where value == .null && !attribute.isOptional {
        guard numbers?.contains(attribute.number) ?? true else { continue }
        return description.attribute(number: attribute.number)?.name ?? "?"
      }
      return nil
    }
  }
}

extension HistoryChange {
  fileprivate func imageKey(_ entity: StoredEntity) -> HistoryKey {
    .image(entity: entity.number, id: recordID, transaction: image)
  }
}

extension HistoryLog {
  /// The image of the next change of the record.
  fileprivate func nextImage(
    of change: HistoryChange, _ entity: StoredEntity
  ) throws(StoreError) -> ByteView? {
    guard let tree else { return nil }
    let key = HistoryKey.image(
      entity: entity.number, id: change.recordID, transaction: change.image + 1)
    return try wrappingErrors {
      let cursor = try Cursor(tree, in: core.transaction)
      guard try key.bytes._withBytes({ try cursor.seek(atOrAfter: $0) }),
        case .image(entity.number, change.recordID, _)? = HistoryKey(cursor.key)
      else { return nil }
      return cursor.value
    }
  }
}
