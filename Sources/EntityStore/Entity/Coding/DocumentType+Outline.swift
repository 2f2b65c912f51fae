internal import LMDB
internal import LodestoreFormat

extension DocumentOutline {
  private static let known = Guarded<[ObjectIdentifier: DocumentOutline]>([:])

  /// The outline of the documents that hold values of a `Codable` type.
  ///
  /// The outline is computed once per process, by decoding the type from a decoder without data.
  init(of type: any Decodable.Type) {
    let id = ObjectIdentifier(type)
    if let outline = Self.known.withLock({ $0[id] }) {
      self = outline
      return
    }
    var outliner = DocumentOutliner()
    let outline = outliner.outline(of: DocumentType(type))
    Self.known.withLock { $0[id] = outline }
    self = outline
  }
}

/// Builds the outline of a type and of the types inside it.
private struct DocumentOutliner {
  /// The types that contain the current one.
  private var enclosing: [ObjectIdentifier] = []
  private var count = 0

  mutating func outline(of type: DocumentType) -> DocumentOutline {
    count += 1
    if type.isWrapping {
      guard var wrapped = type.wrapped.map({ outline(of: $0) }) else {
        return DocumentOutline(.any, isOptional: true)
      }
      wrapped.isOptional = true
      return wrapped
    }
    let id = ObjectIdentifier(type.type)
    // A type that contains itself is outlined only once.
    guard enclosing.count + 1 < DocumentOutline.deepestNesting, !enclosing.contains(id),
      count < DocumentOutline.mostOutlines
    else { return DocumentOutline(.any) }
    enclosing.append(id)
    defer { enclosing.removeLast() }
    if let element = type.element { return DocumentOutline(.array(outline(of: element))) }
    if let value = type.mapValue { return DocumentOutline(.map(outline(of: value))) }
    if let scalar = type.scalar { return DocumentOutline(.scalar(scalar)) }
    if type.type is JSONValue.Type { return DocumentOutline(.any) }
    return object(type)
  }

  private mutating func object(_ type: DocumentType) -> DocumentOutline {
    let found = DocumentTypeMembers(of: type.type)
    if let single = found.single { return outline(of: DocumentType(single)) }
    guard found.areKnown, found.names.count < DocumentOutline.mostOutlines - count else {
      return DocumentOutline(.any)
    }
    var members: [DocumentOutline.Member] = []
    for name in found.names {
      var value = DocumentOutline(.any)
      if count < DocumentOutline.mostOutlines - found.names.count,
        let type = found.types[name] ?? nil
      {
        value = outline(of: DocumentType(type))
      } else {
        count += 1
      }
      if found.optional.contains(name) { value.isOptional = true }
      members.append(DocumentOutline.Member(name: name, value: value))
    }
    members.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    return DocumentOutline(.object(members, isOpen: !found.areComplete))
  }
}

extension DocumentType {
  /// The attribute type of a scalar for which documents have a type code; `nil` for other types.
  fileprivate var scalar: AttributeType? {
    guard type is any DocumentValue.Type, let known = type as? any AttributeValue.Type else {
      return nil
    }
    let scalar = known._storage.type
    return scalar == .json || scalar == .document ? nil : scalar
  }
}
