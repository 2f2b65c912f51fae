internal import LodestoreFormat

/// Turns JSON records into records of an entity, attribute by attribute, without a Swift type.
///
/// One for many records of one transaction; not for two threads at once.
package final class JSONRecordEncoder {
  /// The member that `kvdump` shows a record's id in; ids are given by the store, so it is left out.
  package static let idMember = "_id"

  private let entity: StoredEntity
  private let assembly: RecordAssembly
  private let isStrict: Bool
  /// The place in the layout by the name of the JSON member; −1 for members that are no attribute.
  private var placeByMember: [String: Int] = [:]
  private let placeByName: [String: Int]
  /// How often each member came that the entity has no attribute for.
  private var unknownMembers: [String: Int] = [:]

  /// - Parameters:
  ///   - names: attributes of members whose names were mapped in another way than
  ///     ``AttributeNames/valid(_:)`` does.
  ///   - isStrict: whether an unknown member rejects the record.
  package init(_ entity: StoredEntity, names: [String: String] = [:], isStrict: Bool = false) {
    self.entity = entity
    self.isStrict = isStrict
    assembly = RecordAssembly(entity)
    placeByName = Dictionary(
      assembly.attributes.enumerated().map { ($1.name, $0) },
      uniquingKeysWith: { first, _ in first })
    for (member, name) in names { placeByMember[member] = placeByName[name] ?? -1 }
  }

  /// Reads a record's attributes, for the calls that follow.
  package func read(_ record: JSONRecord) throws(RecordRejection) {
    assembly.begin()
    var fault: RecordRejection?
    let refusal = record.forEachMember { name, node in
      if fault != nil { return }
      do throws(RecordRejection) {
        try take(name, node)
      } catch {
        fault = error
      }
    }
    if let rejection = refusal ?? fault { throw rejection }
  }

  private func take(_ member: String, _ node: JSONNode) throws(RecordRejection) {
    let place = place(of: member)
    guard place >= 0 else {
      if member == Self.idMember { return }
      unknownMembers[member, default: 0] += 1
      guard !isStrict else {
        throw RecordRejection("'\(member)' is no attribute of \(entity.name)", at: node)
      }
      return
    }
    let attribute = assembly.attributes[place]
    guard !assembly.isGiven[place] else {
      throw RecordRejection(
        "'\(member)' and another member are both attribute '\(attribute.name)'",
        attribute: attribute.name, at: node)
    }
    let value: Value
    do {
      value = try Value(node, as: attribute.type)
    } catch {
      throw RecordRejection(
        "'\(attribute.name)' \(error.description)", attribute: attribute.name, at: node)
    }
    guard value != .null || attribute.isOptional else {
      throw RecordRejection(
        "'\(attribute.name)' is null, and required", attribute: attribute.name, at: node)
    }
    assembly.give(value, at: place)
  }

  private func place(of member: String) -> Int {
    if let known = placeByMember[member] { return known }
    let place =
      member == Self.idMember
      ? -1 : placeByName[member] ?? placeByName[AttributeNames.valid(member)] ?? -1
    placeByMember[member] = place
    return place
  }

  /// The content for the record that was read last, with room for its checksum behind it.
  ///
  /// Valid until the next call. Absent attributes take their initial value or null.
  ///
  /// - Parameter isPart: whether required attributes may be absent, as a merge takes the given ones.
  package func content(
    of record: JSONRecord, isPart: Bool = false
  ) throws(RecordRejection) -> UnsafeRawBufferPointer {
    if !isPart, let attribute = assembly.missing {
      throw RecordRejection(
        "'\(attribute.name)' is absent, and required", attribute: attribute.name,
        offset: record.offset)
    }
    return assembly.content()
  }

  /// Which attributes of the layout the record read last has.
  package var isGiven: [Bool] { assembly.isGiven }

  /// Whether the record read last has a value for each of the attributes `numbers`.
  package func hasKey(_ numbers: [UInt32]) -> Bool {
    numbers.allSatisfy { number in
      guard let place = entity.layout.placeIndex(ofAttribute: number) else { return false }
      return assembly.isGiven[place] && assembly.values[place] != .null
    }
  }

  /// The unknown members since the last call.
  func takeUnknownMembers() -> [String: Int] {
    defer { unknownMembers = [:] }
    return unknownMembers
  }
}
