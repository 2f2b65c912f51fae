/// The values that a program reads from the documents of one attribute; unknown parts are
/// ``Kind/any``.
///
/// See Format.md, "Catalogue". An outline describes the type that a program declares. A document
/// need not match it, because the program's own decoding may accept other forms.
package struct DocumentOutline: Sendable, Hashable {
  /// The kind of a value.
  package indirect enum Kind: Sendable, Hashable {
    /// A value that is not described further.
    case any
    case scalar(AttributeType)
    case array(DocumentOutline)
    /// An object whose members may have any name.
    case map(DocumentOutline)
    /// - `isOpen`: Whether values may have members that are not listed.
    case object([Member], isOpen: Bool)
  }

  /// A member of an object.
  package struct Member: Sendable, Hashable {
    package var name: String
    package var value: DocumentOutline
    /// Whether a program removed the member.
    ///
    /// Older documents may still have it.
    package var isRemoved: Bool

    package init(name: String, value: DocumentOutline, isRemoved: Bool = false) {
      self.name = name
      self.value = value
      self.isRemoved = isRemoved
    }
  }

  package var kind: Kind
  /// Whether the value may be null or, for a member, absent.
  package var isOptional: Bool
  /// Members of the description written by a later version.
  ///
  /// Such members are written back unchanged.
  private var unknownMembers: [String: Document] = [:]

  package init(_ kind: Kind, isOptional: Bool = false) {
    self.kind = kind
    self.isOptional = isOptional
  }

  /// The maximum nesting of outlines.
  ///
  /// The attribute's own outline is the first level.
  package static let deepestNesting = 16
  /// The maximum number of outlines within one attribute.
  package static let mostOutlines = 1_000
}

// MARK: - As a document

extension DocumentOutline {
  private static let knownMembers: Set = [
    "type", "optional", "element", "members", "open", "name", "removed",
  ]

  /// Whether a scalar of a document may be read as the type.
  private static func isScalar(_ type: AttributeType) -> Bool {
    type != .json && type != .document && type != .recordID
  }

  /// The outline as a part of the attribute's description.
  package var document: Document { .object(objectMembers) }

  private var objectMembers: [String: Document] {
    var result: [String: Document] = ["type": .string(typeName)]
    if isOptional { result["optional"] = .bool(true) }
    switch kind {
    case .any, .scalar: break
    case .array(let element), .map(let element): result["element"] = element.document
    case .object(let members, let isOpen):
      result["members"] = .array(
        members.map { member in
          var object = member.value.objectMembers
          object["name"] = .string(member.name)
          if member.isRemoved { object["removed"] = .bool(true) }
          return .object(object)
        })
      if isOpen { result["open"] = .bool(true) }
    }
    return result.merging(unknownMembers) { known, _ in known }
  }

  private var typeName: String {
    switch kind {
    case .any: "any"
    case .scalar(let type): type.name
    case .array: "array"
    case .map: "map"
    case .object: "object"
    }
  }

  /// Reads an outline from a part of the attribute's description and checks its rules.
  package init(_ document: Document) throws(FormatError) {
    var count = 0
    try self.init(document, level: 1, &count)
  }

  private init(_ document: Document, level: Int, _ count: inout Int) throws(FormatError) {
    count += 1
    guard level <= Self.deepestNesting, count <= Self.mostOutlines else {
      throw Self.fault(
        "nest deeper than \(Self.deepestNesting), or are more than \(Self.mostOutlines)")
    }
    guard case .object(let all) = document, case .string(let name)? = all["type"] else {
      throw Self.fault("have no text 'type'")
    }
    isOptional = try Self.flag("optional", all)
    unknownMembers = all.filter { !Self.knownMembers.contains($0.key) }
    switch name {
    case "any": kind = .any
    case "array", "map":
      guard let element = all["element"] else {
        throw Self.fault("have \(name == "map" ? "a" : "an") \(name) without 'element'")
      }
      let inner = try DocumentOutline(element, level: level + 1, &count)
      kind = name == "map" ? .map(inner) : .array(inner)
    case "object":
      guard case .array(let elements)? = all["members"] else {
        throw Self.fault("have an object without an array 'members'")
      }
      var members: [Member] = []
      for element in elements {
        guard case .string(let name)? = element["name"],
          members.last.map({ $0.name.utf8.lexicographicallyPrecedes(name.utf8) }) ?? true
        else { throw Self.fault("have members without a name, or not in ascending order") }
        guard case .object(let object) = element else { throw Self.fault("have no object") }
        members.append(
          Member(
            name: name, value: try DocumentOutline(element, level: level + 1, &count),
            isRemoved: try Self.flag("removed", object)))
      }
      kind = .object(members, isOpen: try Self.flag("open", all))
    default:
      guard let type = AttributeType(name: name), Self.isScalar(type) else {
        throw Self.fault("have the type '\(name)'")
      }
      kind = .scalar(type)
    }
  }

  private static func flag(
    _ name: String, _ members: [String: Document]
  ) throws(FormatError) -> Bool {
    switch members[name] {
    case nil: return false
    case .bool(let flag)?: return flag
    default: throw fault("have '\(name)', which is no boolean")
    }
  }

  private static func fault(_ reason: String) -> FormatError {
    FormatError("the 'members' of a document attribute \(reason)", .catalogueDocumentMembers)
  }
}

// MARK: - Changes

extension DocumentOutline {
  /// One difference between two outlines.
  package struct Change: Sendable, Hashable {
    /// The difference in words, such as `new required member 'zip', string`.
    package var text: String
    /// Whether the new outline can read each value that the old one describes.
    package var fits: Bool

    package init(text: String, fits: Bool) {
      self.text = text
      self.fits = fits
    }
  }

  /// The differences between this outline, which a program declares, and the one in the file.
  package func changes(from stored: DocumentOutline) -> [Change] {
    var found: [Change] = []
    compare(with: stored, at: "", &found)
    return found
  }

  private func compare(with old: DocumentOutline, at path: String, _ found: inout [Change]) {
    let label = path.isEmpty ? "the value" : "member '\(path)'"
    if old.isOptional != isOptional {
      found.append(
        Change(text: "\(label) becomes \(isOptional ? "optional" : "required")", fits: isOptional))
    }
    switch (old.kind, kind) {
    case (.array(let before), .array(let after)):
      after.compare(with: before, at: path + "[]", &found)
    case (.map(let before), .map(let after)):
      after.compare(with: before, at: path.isEmpty ? "*" : path + ".*", &found)
    case (.object(let before, let wasOpen), .object(let after, let isOpen)):
      Self.compare(
        before, wasOpen: wasOpen, with: after, isOpen: isOpen, at: path, into: &found)
    case (let before, let after) where before != after:
      let fits = Self.fits(before, after)
      found.append(Change(text: "\(label) is \(words), and was \(old.words)", fits: fits))
    default: break
    }
  }

  private static func compare(
    _ before: [Member], wasOpen: Bool, with after: [Member], isOpen: Bool, at path: String,
    into found: inout [Change]
  ) {
    for member in after {
      let place = path.isEmpty ? member.name : "\(path).\(member.name)"
      let old = before.first { $0.name == member.name }
      if let old, !old.isRemoved {
        member.value.compare(with: old.value, at: place, &found)
        continue
      }
      // Older documents may have the member, because the stored outline was open.
      if old == nil, wasOpen { continue }
      // Documents written before the removal have the member, and later documents do not.
      let fits =
        member.value.isOptional && (old.map { Self.fits($0.value.kind, member.value.kind) } ?? true)
      found.append(
        Change(
          text: "new \(member.value.isOptional ? "optional" : "required") member '\(place)', "
            + member.value.words, fits: fits))
    }
    guard !isOpen else { return }
    for member in before
    where !member.isRemoved && !after.contains(where: { $0.name == member.name }) {
      let place = path.isEmpty ? member.name : "\(path).\(member.name)"
      found.append(Change(text: "member '\(place)' goes", fits: true))
    }
  }

  private static func fits(_ before: Kind, _ after: Kind) -> Bool {
    switch (before, after) {
    case (_, .any): true
    case (.scalar(let old), .scalar(let new)): old == new || new.reads(old)
    default: before == after
    }
  }

  /// The outline to store: this one, merged with the members that only the stored outline has.
  ///
  /// - Parameter keepsOthers: Whether members that are missing from this outline stay; otherwise
  ///   they are marked as removed.
  package func merged(over stored: DocumentOutline, keepsOthers: Bool) -> DocumentOutline {
    var result = self
    result.unknownMembers = stored.unknownMembers
    switch (stored.kind, kind) {
    case (.array(let before), .array(let after)):
      result.kind = .array(after.merged(over: before, keepsOthers: keepsOthers))
    case (.map(let before), .map(let after)):
      result.kind = .map(after.merged(over: before, keepsOthers: keepsOthers))
    case (.object(let before, _), .object(var after, let isOpen)):
      for index in after.indices {
        guard let old = before.first(where: { $0.name == after[index].name }) else { continue }
        after[index].value = after[index].value.merged(over: old.value, keepsOthers: keepsOthers)
      }
      for var member in before where !after.contains(where: { $0.name == member.name }) {
        if !keepsOthers, !isOpen { member.isRemoved = true }
        after.append(member)
      }
      after.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
      result.kind = .object(after, isOpen: isOpen)
    default: break
    }
    return result
  }

  /// The kind in words, for messages.
  private var words: String {
    switch kind {
    case .any: "any value"
    case .scalar(let type): type.name
    case .array(let element): "an array of \(element.words)"
    case .map(let element): "a dictionary of \(element.words)"
    case .object: "an object"
    }
  }
}

extension AttributeType {
  /// Whether each value that documents hold for `other` can be read as this type.
  fileprivate func reads(_ other: AttributeType) -> Bool {
    if self == .double, other == .float { return true }
    if self == .string, other == .url { return true }
    guard let from = other.integerRange else { return false }
    switch self {
    case .double: return from.low >= -(1 << 53) && from.high <= 1 << 53
    case .float: return from.low >= -(1 << 24) && from.high <= 1 << 24
    default:
      guard let range = integerRange else { return false }
      return range.low <= from.low && from.high <= range.high
    }
  }
}
