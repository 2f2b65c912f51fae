import LodestoreBytes

extension DocumentOutline {
  /// Whether the outline lists all members of some object, or lists removed members.
  package var knowsMembers: Bool {
    switch kind {
    case .any, .scalar: false
    case .array(let element), .map(let element): element.knowsMembers
    case .object(let members, let isOpen):
      !isOpen || members.contains { $0.isRemoved || $0.value.knowsMembers }
    }
  }

  /// Returns a stored document without removed members.
  ///
  /// If the outline lists all members of an object, other members of that object are left out too.
  /// Returns `nil` if there is nothing to leave out.
  package func withoutUnknownMembers(_ value: Value) throws(FormatError) -> Value? {
    guard case .document(let bytes) = value else { return nil }
    let document = try bytes._withBytes { (bytes) throws(FormatError) in
      try Document(decoding: bytes)
    }
    return pruned(document).map { .document($0.encoded()) }
  }

  private func pruned(_ document: Document) -> Document? {
    switch (kind, document) {
    case (.array(let element), .array(let items)):
      let found = items.map { element.pruned($0) }
      guard found.contains(where: { $0 != nil }) else { return nil }
      return .array(zip(items, found).map { $1 ?? $0 })
    case (.map(let element), .object(let members)):
      let found = members.compactMapValues { element.pruned($0) }
      return found.isEmpty ? nil : .object(members.merging(found) { $1 })
    case (.object(let listed, let isOpen), .object(let members)):
      var result = members
      var isOther = false
      for (name, value) in members {
        if let member = listed.first(where: { $0.name == name && !$0.isRemoved }) {
          guard let pruned = member.value.pruned(value) else { continue }
          result[name] = pruned
        } else if isOpen, !listed.contains(where: { $0.name == name }) {
          continue
        } else {
          result[name] = nil
        }
        isOther = true
      }
      return isOther ? .object(result) : nil
    default: return nil
    }
  }
}
