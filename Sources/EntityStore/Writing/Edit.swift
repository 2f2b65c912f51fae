internal import LodestoreFormat

/// A record that was read to be edited, with what it was then.
///
///     var edit = try store.edit(film.id)
///     edit.title = "Star Wars"
///     try store.update(edit)
///
/// Between reading and saving, others may change the record. ``WriteTransaction/update(_:onConflict:)`` compares
/// what is stored with what it was, attribute by attribute, and fails, or merges as it is told to.
@dynamicMemberLookup
public struct Edit<E: Entity>: Sendable {
  /// The record as it was read.
  public let base: E
  /// The record as it is to be.
  public var value: E

  /// Begins to edit a record from a value that was read.
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

/// The rule for a record that others have changed while it was edited; the policies of `NSMergePolicy`.
///
/// A ``MergePolicy`` sees two records. This policy sees three: the record as it was read, the edited one and the
/// stored one. So it knows which attributes each side has changed, and merges changes rather than values.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum EditPolicy: Sendable {
  /// Nothing is written, and ``EditConflict`` says why; `NSErrorMergePolicy`.
  case fail
  /// Attribute by attribute; of those that both have changed, the stored value stays;
  /// `NSMergeByPropertyStoreTrumpMergePolicy`.
  case keepStored
  /// Attribute by attribute; of those that both have changed, the edited value is written;
  /// `NSMergeByPropertyObjectTrumpMergePolicy`.
  case keepEdited
  /// The edited record is written as a whole; `NSOverwriteMergePolicy`.
  case overwrite
  /// The stored record stays as it is; `NSRollbackMergePolicy`.
  case rollback
}

/// Both sides of an edit that others have come in the way of: the cause of ``StoreError/Code/editConflict``.
public struct EditConflict<E: Entity>: Error {
  /// The record as it was when the edit began.
  public let base: E
  /// The record as it was to be.
  public let edited: E
  /// The record as it is stored now; `nil` when it was deleted.
  public let stored: E?
  /// The names of the attributes that others have changed.
  public let changedByOthers: [String]
  /// The names of the attributes that the edit has changed.
  public let changedByEdit: [String]
}

extension ReadableTransaction where Self: ~Copyable {
  /// The record with this id, to be edited.
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
  /// Saves an edit: gives the record the values that the edit has changed.
  ///
  /// It is checked against what is stored: where others have changed an attribute since the edit began, also one
  /// that the edit has not, `policy` says what happens. Links to many are no part of it: what is added and
  /// removed stands beside what others do. Derived attributes are none either.
  ///
  /// - Returns: what is stored now.
  /// - Throws: ``StoreError/Code/editConflict`` with an ``EditConflict`` as its cause, where others have changed the
  ///   record and `policy` is ``EditPolicy/fail``, or have deleted it, whatever `policy` is, but for
  ///   ``EditPolicy/rollback``, which throws ``StoreError/Code/noSuchRecord`` then; as ``update(_:)`` otherwise.
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
  /// The values that a program's value, which replaces record `id`, is stored as.
  fileprivate func values<E: Entity>(
    of value: E, over id: UInt64
  ) throws(StoreError) -> [Value] {
    try entity.values(of: try entity.view(try encode(value, over: id)), id: id)
  }
}

extension StoredEntity {
  /// The positions of the attributes that programs give.
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
      : "merge by another EditPolicy, or edit it anew"
    return StoreError(
      .editConflict,
      "cannot save the edit of \(entity) \(conflict.base.id): \(reason) since it began; \(advice)",
      cause: conflict, entity: entity,
      recordID: conflict.base.id.rawValue)
  }
}
