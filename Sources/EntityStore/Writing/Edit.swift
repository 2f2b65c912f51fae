public import LodestoreEssentials
internal import LodestoreFormat

/// A record that was read to be edited, with its original values.
///
///     var edit = try store.edit(film.id)
///     edit.title = "Star Wars"
///     try store.update(edit)
///
/// Other writers may change the record between reading and saving.
/// ``WriteTransaction/update(_:onConflict:)`` compares the stored values with the original ones,
/// attribute by attribute, and fails or merges, depending on its policy.
@dynamicMemberLookup
public struct Edit<E: Entity>: Sendable {
  /// The record as it was read.
  public let base: E
  /// The record with the edited values.
  public var value: E

  /// Begins to edit a value that was read.
  public init(_ value: E) {
    base = value
    self.value = value
  }

  /// A property of ``value``.
  public subscript<V>(dynamicMember path: WritableKeyPath<E, V>) -> V {
    get { value[keyPath: path] }
    set { value[keyPath: path] = newValue }
  }
}

/// The treatment of a record that other writers changed during an edit; the policies of
/// `NSMergePolicy`.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum EditPolicy: Sendable {
  /// Nothing is written, and the error is an ``EditConflict``; `NSErrorMergePolicy`.
  case fail
  /// Attributes are merged; an attribute that both sides changed keeps the stored value.
  ///
  /// This policy is `NSMergeByPropertyStoreTrumpMergePolicy`.
  case keepStored
  /// Attributes are merged; an attribute that both sides changed takes the edited value.
  ///
  /// This policy is `NSMergeByPropertyObjectTrumpMergePolicy`.
  case keepEdited
  /// The edited record is written as a whole; `NSOverwriteMergePolicy`.
  case overwrite
  /// The stored record stays unchanged; `NSRollbackMergePolicy`.
  case rollback
}

/// The values of a conflict between an edit and another write.
///
/// The conflict is the cause of ``StoreError/Code/editConflict``.
public struct EditConflict<E: Entity>: Error {
  /// The record when the edit began.
  public let base: E
  /// The edited record.
  public let edited: E
  /// The stored record; `nil` when it was deleted.
  public let stored: E?
  /// The names of the attributes that other writers changed.
  public let changedByOthers: [String]
  /// The names of the attributes that the edit changed.
  public let changedByEdit: [String]
}

extension EditConflict: CustomStringConvertible {
  /// The record, and the attributes that each side has changed, without their values.
  public var description: String {
    let others =
      stored == nil
      ? "another write deleted it"
      : "other writes changed \(changedByOthers.joined(separator: ", "))"
    return "the edit of \(E.schema.name) \(base.id) conflicts: \(others), and the edit changed "
      + changedByEdit.joined(separator: ", ")
  }
}

extension EditConflict: LocalizedError {
  /// The message; Foundation and tools that print errors use this property.
  public var errorDescription: String? { description }
}

extension ReadableTransaction where Self: ~Copyable {
  /// Reads the record with this id for editing.
  ///
  /// - Throws: ``StoreError/Code/noSuchRecord``.
  public func edit<E: Entity>(_ id: RecordID<E>) throws(StoreError) -> Edit<E> {
    guard let value: E = try fetch(id) else {
      throw .noSuchRecord(entity: try access.core.entity(E.self).name, id: id.rawValue)
    }
    return Edit(value)
  }
}

extension WriteTransaction {
  /// Saves an edit: writes the values that the edit changed.
  ///
  /// The edit is compared with the stored record. When other writers have changed an attribute
  /// since the edit began, even one that the edit did not change, `policy` determines the result.
  /// An edit does not include to-many links or derived attributes.
  ///
  /// - Returns: the stored record after the call.
  /// - Throws: ``StoreError/Code/editConflict`` with an ``EditConflict`` as its cause, in two
  ///   cases. Other writers changed the record and `policy` is ``EditPolicy/fail``. Other writers
  ///   deleted the record, with every policy except ``EditPolicy/rollback``, which throws
  ///   ``StoreError/Code/noSuchRecord``. Also the errors of ``update(_:)``.
  @discardableResult
  public mutating func update<E: Entity>(
    _ edit: Edit<E>, onConflict policy: EditPolicy = .fail
  ) throws(StoreError) -> E {
    let core = core
    let entity = try core.entity(E.self)
    let id = edit.base.id
    guard id.isAssigned else { throw .notStored(entity: entity.name) }
    guard edit.value.id == id || !edit.value.id.isAssigned else {
      throw .otherID(edit.value.id.rawValue, of: id.rawValue, entity: entity.name)
    }
    let changes = core.changes(of: entity)
    guard let stored = try changes.values(of: id.rawValue) else {
      if policy == .rollback { throw .noSuchRecord(entity: entity.name, id: id.rawValue) }
      throw .editConflict(
        EditConflict(
          base: edit.base, edited: edit.value, stored: nil, changedByOthers: [],
          changedByEdit: []), entity: entity.name, "it was deleted")
    }
    let base = try changes.values(of: edit.base, over: id.rawValue)
    let edited = try changes.values(of: edit.value, over: id.rawValue)
    let given = entity.givenPositions
    let others = given.filter { !stored[$0].hasSameBytes(as: base[$0]) }
    let mine = given.filter { !edited[$0].hasSameBytes(as: base[$0]) }
    var result = stored
    switch policy {
    case .fail:
      if !others.isEmpty {
        let conflict = EditConflict(
          base: edit.base, edited: edit.value, stored: try fetch(id),
          changedByOthers: entity.names(others), changedByEdit: entity.names(mine))
        throw .editConflict(
          conflict, entity: entity.name,
          "others have changed \(conflict.changedByOthers.joined(separator: ", "))")
      }
      for position in mine { result[position] = edited[position] }
    case .keepStored:
      for position in mine where !others.contains(position) { result[position] = edited[position] }
    case .keepEdited: for position in mine { result[position] = edited[position] }
    case .overwrite: for position in given { result[position] = edited[position] }
    case .rollback: break
    }
    _ = try changes.update(id.rawValue, to: try changes.encode(result))
    guard let saved: E = try fetch(id) else {
      throw .noSuchRecord(entity: entity.name, id: id.rawValue)
    }
    return saved
  }
}

extension EntityChanges {
  /// The stored values of a program's value that replaces record `id`.
  fileprivate func values<E: Entity>(of value: E, over id: UInt64) throws(StoreError) -> [Value] {
    try entity.values(of: try entity.view(try encode(value, over: id)), id: id)
  }
}

extension StoredEntity {
  /// The positions of the attributes that are not derived.
  fileprivate var givenPositions: [Int] {
    layout.attributes.indices.filter { position in
      description.attribute(number: layout.attributes[position].number)?.derivation == nil
    }
  }

  fileprivate func names(_ positions: [Int]) -> [String] {
    positions.compactMap { description.attribute(number: layout.attributes[$0].number)?.name }
  }
}

extension StoreError {
  fileprivate static func editConflict<E: Entity>(
    _ conflict: EditConflict<E>, entity: String, _ reason: String
  ) -> StoreError {
    let advice =
      conflict.stored == nil
      ? "insert its values as a new record to keep them"
      : "merge with another EditPolicy, or edit the record again"
    return StoreError(
      .editConflict,
      "cannot save the edit of \(entity) \(conflict.base.id): \(reason) since the edit began; \(advice)",
      cause: conflict, entity: entity,
      recordID: conflict.base.id.rawValue)
  }
}
