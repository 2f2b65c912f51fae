internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

extension ReadableTransaction where Self: ~Copyable {
  /// The record before a write updated or deleted it, from its image, which is a stored copy of the
  /// old record.
  ///
  /// Returns `nil` for an insert, and when no image was kept.
  ///
  /// Images are kept until the write is purged, if ``HistoryPolicy/kept(preserving:images:)``
  /// requests them.
  public func value<E: Entity>(
    before change: HistoryChange, as _: E.Type = E.self
  ) throws(StoreError) -> E? {
    let entity = try access.core.entity(E.self, of: change)
    guard change.kind != .inserted,
      let bytes = try HistoryLog(access.core).image(change.imageKey(entity))
    else { return nil }
    return try access.core.decodeImage(E.self, bytes, of: change, entity)
  }

  /// The record after a write inserted or updated it.
  ///
  /// Returns `nil` for a delete, and when a later write has changed the record without keeping an
  /// image. The value comes from the image before the next change of the record. If there is no
  /// further change, the value is the stored record. The entity must have kept images without
  /// interruption since the write.
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

  /// The value of an attribute in a deleted record; `nil` when it was not preserved.
  ///
  ///     let title = try snapshot.preserved(\Film.Attributes.title, of: change)
  ///
  /// Values are preserved for the attributes in ``HistoryPolicy/kept(preserving:images:)``, until
  /// the write is purged.
  public func preserved<E: Entity, V>(
    _ path: KeyPath<E.Attributes, Attribute<E, V>>, of change: HistoryChange
  ) throws(StoreError) -> V? {
    let core = access.core
    let entity = try core.entity(E.self, of: change)
    let attribute = E.attributes[keyPath: path]
    guard
      let described = entity.description.attribute(named: attribute.attributeName),
      let kept = try HistoryLog(core).value(
        .tombstone(entity: entity.number, id: change.recordID, write: change.image)),
      let document = kept["\(described.number)"]
    else { return nil }
    let value =
      document == .null ? Value.null : EntityDescription.value(of: document, for: described.type)
    return attribute.coding.load(StoredValue(value))
  }
}

extension TransactionCore {
  /// Returns the entity of `E`; throws when the change belongs to another entity.
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
  /// - Throws: ``StoreError/Code/undecodableValue`` when the image lacks an attribute that has
  ///   become required since.
  fileprivate func decodeImage<E: Entity>(
    _: E.Type, _ bytes: ByteView, of change: HistoryChange, _ entity: StoredEntity
  ) throws(StoreError) -> E {
    let view = try entity.view(bytes, id: change.recordID)
    if let lacking = try entity.attribute(lackingIn: view) {
      throw StoreError(
        .undecodableValue,
        "cannot read \(entity.name) \(change.recordID) as it was: it has no value in '\(lacking)', "
          + "which is now required; make that attribute optional to read it",
        entity: entity.name, attribute: lacking, recordID: change.recordID)
    }
    return try decode(E.self, bytes, id: change.recordID, of: entity)
  }
}

extension StoredEntity {
  /// The name of a required attribute for which a record in an earlier layout has no value; `nil`
  /// if all required attributes have one.
  ///
  /// - Parameter numbers: the attributes to check; `nil` for all.
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
  func imageKey(_ entity: StoredEntity) -> HistoryKey {
    .image(entity: entity.number, id: recordID, write: image)
  }
}

extension HistoryLog {
  /// Returns the image of the record's next change.
  func nextImage(
    of change: HistoryChange, _ entity: StoredEntity
  ) throws(StoreError) -> ByteView? {
    guard let tree else { return nil }
    let key = HistoryKey.image(
      entity: entity.number, id: change.recordID, write: change.image + 1)
    return try wrappingErrors {
      let cursor = try Cursor(tree, in: core.transaction)
      guard try key.bytes._withBytes({ try cursor.seek(atOrAfter: $0) }),
        case .image(entity.number, change.recordID, _)? = HistoryKey(cursor.key)
      else { return nil }
      return cursor.value
    }
  }
}
