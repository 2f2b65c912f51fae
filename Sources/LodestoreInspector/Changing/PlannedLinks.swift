internal import EntityStore
internal import LodestoreRows

/// The links that a change adds to a relationship of one record, and those that it removes.
struct PlannedLinks: Sendable {
  /// A related record, and its state before the change.
  struct Link: Hashable, Sendable {
    let id: UInt64
    let isLinked: Bool
    /// The record with which a related record of at most one owner is linked; `nil` for none.
    let owner: UInt64?
  }

  let entity: String
  let id: UInt64
  let relationship: String
  /// In the order of the answer, which an ordered relationship keeps.
  let added: [Link]
  let removed: [Link]

  /// The names of the items of an answer; that of a chosen record is followed by its id.
  static let (add, remove, chosen) = ("add", "remove", "remove.")

  /// Reads the ids of an answer, and the present state of their records.
  ///
  /// - Throws: ``ChangeRefusal`` with all ids that cannot be added or removed, and
  ///   ``AddressError`` and `StoreError`.
  init(
    _ entity: String, _ id: UInt64, _ relationship: String, _ input: ChangeInput,
    _ reading: PageReading
  ) throws {
    self.entity = entity
    self.id = id
    self.relationship = relationship
    let source = try reading.entity(entity)
    _ = try PlannedChange.record(id, of: source, reading.snapshot)
    let end = try Self.end(relationship, of: source, reading.snapshot)
    var faults: [(attribute: String, reason: String)] = []
    func links(_ item: String) throws -> [Link] {
      let texts = Self.texts(item, of: input)
      for text in texts where Route.id(text) == nil { faults.append((item, "'\(text)' is no id")) }
      var ids = texts.compactMap(Route.id)
      var known: Set<UInt64> = []
      ids.removeAll { !known.insert($0).inserted }
      return try Self.state(of: ids, linkedTo: id, by: end, reading.snapshot)
    }
    added = try links(Self.add)
    removed = try links(Self.remove)
    for link in added {
      let name = "\(end.target.name) \(link.id)"
      if removed.contains(link) {
        faults.append((Self.add, "\(name) would be added and removed"))
      } else if link.isLinked {
        faults.append((Self.add, "\(name) is linked already"))
      } else if try reading.snapshot.record(link.id, of: end.target) == nil {
        faults.append((Self.add, "\(end.target.name) has no record \(link.id)"))
      }
    }
    for link in removed where !link.isLinked {
      faults.append((Self.remove, "\(end.target.name) \(link.id) is not linked"))
    }
    guard faults.isEmpty else {
      throw ChangeRefusal(faults, message: "Some links cannot be changed.")
    }
    guard !added.isEmpty || !removed.isEmpty else {
      throw ChangeRefusal(422, "No link would change: no record was chosen.")
    }
  }

  /// The ids of an item as texts, with those of the chosen records of a form.
  private static func texts(_ name: String, of input: ChangeInput) -> [String] {
    switch input {
    case .form(let items):
      let written = (items[name] ?? "").split { $0.isWhitespace || $0 == "," || $0 == ";" }
      let ids = items.keys.filter { name == remove && $0.hasPrefix(chosen) }
      return written.map(String.init) + ids.map { String($0.dropFirst(chosen.count)) }.sorted()
    case .json(let object):
      return object[name]?.elements.map { $0.uint64.map { "\($0)" } ?? $0.string ?? "" } ?? []
    }
  }

  /// A relationship without an attribute of the record, whose links are edited.
  static func end(
    _ name: String, of entity: DynamicEntity, _ snapshot: DynamicSnapshot
  ) throws(AddressError) -> DynamicRelationship {
    let all = snapshot.relationships(of: entity).filter { !$0.isToOne }
    guard let end = all.first(where: { $0.name == name }) else {
      throw .notFound(
        PageReading.missing(
          "\(entity.name) has no to-many relationship", name, among: all.compactMap(\.name)))
    }
    return end
  }

  private static func state(
    of ids: [UInt64], linkedTo id: UInt64, by end: DynamicRelationship,
    _ snapshot: DynamicSnapshot
  ) throws -> [Link] {
    let linked = Set(try snapshot.relatedIDs(of: id, by: end))
    let inverse = snapshot.relationships(of: end.target).first {
      $0.number == end.number && $0.isFirst != end.isFirst && $0.isToOne
    }
    return try ids.map { other in
      let owner = try inverse.flatMap { try snapshot.relatedIDs(of: other, by: $0).first }
      return Link(id: other, isLinked: linked.contains(other), owner: owner)
    }
  }

  // MARK: Making

  /// Removes and adds the links, if their records have the state of the question.
  func apply(_ transaction: DynamicTransaction, _ reading: PageReading) throws {
    let entity = try reading.entity(entity)
    let end = try Self.end(relationship, of: entity, reading.snapshot)
    let asked = added + removed
    let now = try Self.state(of: asked.map(\.id), linkedTo: id, by: end, reading.snapshot)
    guard now == asked else {
      var refusal = ChangeRefusal(
        409, "The links have changed since the question. Nothing was changed now.")
      refusal.states = PlannedChange.states(
        zip(asked, now).filter { $0.0 != $0.1 }.map { asked, now in
          ("\(end.target.name) \(asked.id)", words(asked), words(now))
        })
      throw refusal
    }
    _ = try transaction.unlink(id, from: removed.map(\.id), by: end)
    _ = try transaction.link(id, with: added.map(\.id), by: end)
  }

  /// The links of a related record in words.
  func words(_ link: Link) -> Cell {
    if link.isLinked { return .text("linked") }
    return .text(link.owner.map { "linked with \(entity) \($0)" } ?? "not linked")
  }
}
