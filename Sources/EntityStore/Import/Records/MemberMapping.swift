internal import LodestoreFormat

/// The attributes that the members of JSON records fill; see Format.md, "Catalogue".
struct MemberMapping {
  /// Attributes by the names of members that are mapped in another way than by their own name.
  private let names: [String: String]
  /// Members that are neither attributes nor unknown.
  private let ignored: Set<String>
  /// The names of derived attributes, whose values the store gives.
  private let derived: Set<String>
  private let slotByName: [String: Int]
  /// Slots of attributes by the names of members that they keep as their sources.
  private let slotBySource: [String: Int]
  /// Paths into members, and the attributes that they lead to.
  let nested: [(path: String, slot: Int)]
  /// The attribute that has the key of a record which is the value of a member.
  let keySlot: Int?

  /// - Parameters:
  ///   - names: attributes of members that fill another one than the catalogue says, which is the one
  ///     that has the member's name as its source, or else as its own name.
  ///   - keyName: under which name records that are values of members have their keys.
  init(
    _ entity: StoredEntity, names: [String: String], ignoring ignored: Set<String>,
    keyName: String?
  ) {
    let paths = names.keys.filter(MemberPath.isPath)
    let roots = Set(paths.map(MemberPath.root)).subtracting(names.keys)
    let attributes = entity.description.declaredAttributes
    derived = Set(attributes.lazy.filter { $0.derivation != nil }.map(\.name))
    self.ignored = ignored.union(roots)
    self.names = names
    // Members never give attributes that the program's type does not declare.
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

  /// The slot of the attribute that a member fills, and why.
  func claim(of member: String) -> (slot: Int, claim: MemberTable.Claim) {
    if ignored.contains(member) { return (MemberTable.ignored, .name) }
    if let name = names[member] { return (slotByName[name] ?? MemberTable.unknown, .map) }
    if let slot = slotBySource[member] { return (slot, .source) }
    if derived.contains(member) { return (MemberTable.ignored, .name) }
    return (slotByName[member] ?? MemberTable.unknown, .name)
  }
}
