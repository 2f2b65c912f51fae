internal import LodestoreFormat

/// An object in a document, in a step of a migration; its members are accessed by name.
///
/// Members keep their types: a date stays a date, and a decimal a decimal.
public struct MigratedDocument {
  private var members: [String: Document]

  private init(_ members: [String: Document]) { self.members = members }

  /// The names of the members, in ascending order.
  public var names: [String] { members.keys.sorted() }

  /// The value of a member; `nil` when it is null, missing or of another type.
  ///
  /// Assigning nil removes the member.
  public subscript<V: AttributeValue>(_ name: String, as _: V.Type = V.self) -> V? {
    get {
      guard let member = members[name], member != .null else { return nil }
      let type = V._storage.type
      var value = EntityDescription.value(of: member, for: type)
      if case .integer(let number) = value, type == .double || type == .float {
        value = .double(Double(number))
      }
      return V._value(from: StoredValue(value))
    }
    set {
      members[name] = newValue.map { EntityDescription.document(of: $0._storedValue.value) }
    }
  }

  /// A member that is an object; `nil` for a missing or other member.
  ///
  /// Assigning nil removes the member.
  public subscript(object name: String) -> MigratedDocument? {
    get {
      guard case .object(let members)? = members[name] else { return nil }
      return MigratedDocument(members)
    }
    set { members[name] = newValue.map { .object($0.members) } }
  }

  /// Renames a member; does nothing when it is missing.
  public mutating func rename(_ name: String, to new: String) {
    guard let member = members.removeValue(forKey: name) else { return }
    members[new] = member
  }

  /// Removes a member; does nothing when it is missing.
  public mutating func remove(_ name: String) { members[name] = nil }

  /// Calls `change` with each object in the array `name`; other elements stay unchanged.
  public mutating func forEach(
    in name: String, _ change: (inout MigratedDocument) throws -> Void
  ) rethrows {
    guard case .array(let elements)? = members[name] else { return }
    members[name] = .array(
      try elements.map { element in
        guard case .object(let members) = element else { return element }
        var object = MigratedDocument(members)
        try change(&object)
        return .object(object.members)
      })
  }

  /// Returns the document after changing its object, or the objects in its array; `nil` when it has
  /// none.
  static func changed(
    _ document: Document, _ change: (inout MigratedDocument) throws -> Void
  ) rethrows -> Document? {
    switch document {
    case .object(let members):
      var object = MigratedDocument(members)
      try change(&object)
      return .object(object.members)
    case .array(let elements):
      var changed: [Document] = []
      for element in elements {
        guard let new = try Self.changed(element, change) else { return nil }
        changed.append(new)
      }
      return .array(changed)
    default: return nil
    }
  }
}
