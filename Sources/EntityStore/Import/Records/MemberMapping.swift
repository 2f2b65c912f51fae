internal import LodestoreFormat

/// The mapping from members of JSON records to attributes; see Format.md, "Catalogue".
struct MemberMapping {
  /// The attribute names for members that the import maps.
  private let names: [String: String]
  /// Members that are skipped without counting as unknown.
  private let ignored: Set<String>
  /// The names of derived attributes, whose values the store computes.
  private let derived: Set<String>
  private let slotByName: [String: Int]
  /// The slots of attributes, by the names of their source members.
  private let slotBySource: [String: Int]
  /// Paths into members, with the slots of their attributes.
  let nested: [(path: String, slot: Int)]
  /// The attribute for the key of a record that is the value of a member.
  let keySlot: Int?

  /// Creates the mapping for `entity`.
  ///
  /// - Parameters:
  ///   - names: attributes by the names of members that the import maps. Other members fill the
  ///     attribute whose source they are in the catalogue, or else the attribute of their own name.
  ///   - keyName: the member name for the keys of records that are values of members.
  init(
    _ entity: StoredEntity, names: [String: String], ignoring ignored: Set<String>, keyName: String?
  ) {
    let paths = names.keys.filter(MemberPath.isPath)
    let roots = Set(paths.map(MemberPath.root)).subtracting(names.keys)
    let attributes = entity.description.declaredAttributes
    derived = Set(attributes.lazy.filter { $0.derivation != nil }.map(\.name))
    self.ignored = ignored.union(roots)
    self.names = names
    // Members never fill attributes that the program's type does not declare.
    let slotByName = Dictionary(
      attributes.enumerated()
        .filter { slot, attribute in
          attribute.derivation == nil && entity.part?.isGiven[slot] ?? true
        }
        .map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    self.slotByName = slotByName
    let slotBySource = Dictionary(
      attributes.compactMap { attribute in
        attribute.source.flatMap { source in slotByName[attribute.name].map { (source, $0) } }
      }, uniquingKeysWith: { first, _ in first })
    self.slotBySource = slotBySource
    nested = paths.compactMap { path in
      names[path].flatMap { slotByName[$0] }.map { (path, $0) }
    }
    keySlot = keyName.flatMap { key in
      names[key].map { slotByName[$0] } ?? slotBySource[key] ?? slotByName[key]
    }
  }

  /// Returns the slot of the attribute that a member fills, and the reason why the member fills it.
  func claim(of member: String) -> (slot: Int, claim: MemberTable.Claim) {
    if ignored.contains(member) { return (MemberTable.ignored, .name) }
    if let name = names[member] { return (slotByName[name] ?? MemberTable.unknown, .map) }
    if let slot = slotBySource[member] { return (slot, .source) }
    if derived.contains(member) { return (MemberTable.ignored, .name) }
    return (slotByName[member] ?? MemberTable.unknown, .name)
  }
}
