internal import LodestoreFormat

/// Turns JSON records into records of an entity, attribute by attribute, without a Swift type.
///
/// One for many records of one transaction; not for two threads at once.
package final class JSONRecordEncoder {
  /// The member that `kvdump` shows a record's id in; ids are given by the store, so it is left out.
  package static let idMember = "_id"

  private let entity: StoredEntity
  private let attributes: [EntityDescription.Attribute]
  private let isStrict: Bool
  /// The place in the layout by the name of the JSON member; −1 for members that are no attribute.
  private var placeByMember: [String: Int] = [:]
  private let placeByName: [String: Int]
  private var values: [Value]
  private var isPresent: [Bool]
  private var writer = RecordWriter()
  /// How often each member came that the entity has no attribute for.
  package private(set) var unknownMembers: [String: Int] = [:]

  /// - Parameters:
  ///   - names: attributes of members whose names were mapped in another way than
  ///     ``AttributeNames/valid(_:)`` does.
  ///   - isStrict: whether an unknown member rejects the record.
  package init(_ entity: StoredEntity, names: [String: String] = [:], isStrict: Bool = false) {
    self.entity = entity
    self.isStrict = isStrict
    attributes = entity.description.declaredAttributes
    placeByName = Dictionary(
      attributes.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    values = Array(repeating: .null, count: attributes.count)
    isPresent = Array(repeating: false, count: attributes.count)
    for (member, name) in names { placeByMember[member] = placeByName[name] ?? -1 }
  }

  /// Reads a record's attributes, for the calls that follow.
  package func read(_ record: JSONRecord) throws(RecordRejection) {
    for place in isPresent.indices { isPresent[place] = false }
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
    let attribute = attributes[place]
    guard !isPresent[place] else {
      throw RecordRejection(
        "'\(member)' and another member are both attribute '\(attribute.name)'",
        attribute: attribute.name, at: node)
    }
    isPresent[place] = true
    do {
      values[place] = try Value(node, as: attribute.type)
    } catch {
      throw RecordRejection(
        "'\(attribute.name)' \(error.description)", attribute: attribute.name, at: node)
    }
    guard values[place] != .null || attribute.isOptional else {
      throw RecordRejection(
        "'\(attribute.name)' is null, and required", attribute: attribute.name, at: node)
    }
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
  package func content(of record: JSONRecord) throws(RecordRejection) -> UnsafeRawBufferPointer {
    for (place, attribute) in attributes.enumerated() where !isPresent[place] {
      values[place] = attribute.initial
      guard values[place] != .null || attribute.isOptional else {
        throw RecordRejection(
          "'\(attribute.name)' is absent, and required", attribute: attribute.name,
          offset: record.offset)
      }
    }
    return content(values)
  }

  /// The content of a stored record with the attributes changed that the record read last has.
  func content(patching stored: [Value]) -> UnsafeRawBufferPointer {
    var patched = stored
    for place in patched.indices where isPresent[place] { patched[place] = values[place] }
    return content(patched)
  }

  private func content(_ values: [Value]) -> UnsafeRawBufferPointer {
    for isWide in [false, true] {
      writer.begin(entity.layout, isWide: isWide)
      for (place, attribute) in entity.layout.attributes.enumerated() {
        writer.write(values[place], as: attribute)
      }
      if let content = writer.finish(entity.layout, entity: entity.name) {
        return UnsafeRawBufferPointer(content)
      }
    }
    preconditionFailure("a record fits wide offsets")
  }

  /// The values of `numbers` in the record that was read last; `nil` when one is absent or null.
  func key(_ numbers: [UInt32]) -> [Value]? {
    var key: [Value] = []
    for number in numbers {
      guard let place = entity.layout.placeIndex(ofAttribute: number), isPresent[place],
        values[place] != .null
      else { return nil }
      key.append(values[place])
    }
    return key
  }
}
