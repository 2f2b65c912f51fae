internal import LodestoreFormat

// Paths into documents whose type the program declares. A path to a member that the type lacks
// would silently find nothing, so it is refused.
extension ConditionBinding {
  /// Returns the declared type of the value at the end of `path`.
  ///
  /// Returns `nil` if the value is no document, or if its type is known only from the record.
  ///
  /// Throws ``StoreError/Code/invalidQuery`` if the type before a step has no such member.
  func type(at path: ValuePath) throws(StoreError) -> DocumentType? {
    guard var (type, steps) = try start(of: path) else { return nil }
    while let step = steps.popFirst() {
      let next: DocumentType?
      switch step {
      case .member(let name): next = try member(name, of: type, path, behind: steps)
      case .element, .first, .last, .aggregate: next = type.element
      case .size: next = nil
      }
      guard let next else { return nil }
      type = next
    }
    return type
  }

  /// Returns the declared type of the operand's value, by ``type(at:)``.
  func type(of operand: Operand) throws(StoreError) -> DocumentType? {
    if case .path(let path) = operand { return try type(at: path) }
    return nil
  }

  /// Returns the type of the document that `path` starts in, and the steps into it.
  private func start(
    of path: ValuePath
  ) throws(StoreError) -> (DocumentType, ArraySlice<ValuePath.Step>)? {
    if case .variable(let name) = path.root {
      return variables.last { $0.name == name }?.type.map { ($0, path.steps[...]) }
    }
    guard let type = entity.documentType(of: try attribute(of: path)) else { return nil }
    return (DocumentType(type), path.steps.dropFirst())
  }

  private func member(
    _ name: String, of type: DocumentType, _ path: ValuePath,
    behind rest: ArraySlice<ValuePath.Step>
  ) throws(StoreError) -> DocumentType? {
    switch type.member(name) {
    case .value(let type): return type
    case .nowhere(let owner, let known):
      let way = ValuePath(path.root, path.steps.dropLast(rest.count))
      throw .unknownMember(
        name, of: owner.name, at: ConditionPrinter.text(.path(way)), known: known,
        entity: entity.name, position: position(of: path))
    }
  }
}

extension StoredEntity {
  fileprivate func documentType(
    of attribute: BoundAttribute
  ) -> (any (Decodable & Sendable).Type)? {
    guard attribute.type == .document else { return nil }
    return declared.first { $0.number == attribute.number }?.documentType
  }
}
