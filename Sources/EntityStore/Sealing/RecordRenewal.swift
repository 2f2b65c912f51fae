internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// Brings records of old layouts into the current one, where the old one has attributes that were
/// removed, and takes members out of documents that a program gave up.
///
/// A removed attribute's values stay in records that nobody has changed since, and so do removed
/// members of nested types. A sealed file is for others, and has none of them.
struct RecordRenewal {
  private let entity: EntityDescription
  private let current: RecordLayout
  /// The layouts with attributes that the current one does not have, by their numbers.
  private let outdated: [UInt16: RecordLayout]
  /// All layouts by their numbers, where documents are looked at.
  private let layouts: [UInt16: RecordLayout]
  /// The outlines of the documents that may have members which a program gave up, by attribute.
  private let outlines: [UInt32: DocumentOutline]

  init(_ entity: EntityDescription) {
    self.entity = entity
    let current = entity.layout
    self.current = current
    let outdated = entity.layouts.filter { layout in
      layout.attributes.contains { current.slotIndex(ofAttribute: $0.number) == nil }
    }
    self.outdated = Dictionary(outdated.map { ($0.number, $0) }) { first, _ in first }
    var outlines: [UInt32: DocumentOutline] = [:]
    for attribute in entity.declaredAttributes {
      if let members = attribute.members, members.knowsMembers {
        outlines[attribute.number] = members
      }
    }
    self.outlines = outlines
    layouts =
      outlines.isEmpty
      ? [:] : Dictionary(entity.layouts.map { ($0.number, $0) }) { first, _ in first }
  }

  /// Whether a record may be renewed.
  var isNeeded: Bool { !outdated.isEmpty || !outlines.isEmpty }

  /// The record in the current layout; `nil` where it may stay as it is.
  func renewed(_ bytes: ByteView, id: UInt64) throws -> [UInt8]? {
    guard isNeeded else { return nil }
    let number = try RecordLayout.layoutNumber(of: bytes)
    guard let layout = outdated[number] ?? layouts[number] else { return nil }
    var isOther = outdated[number] != nil
    do {
      let view = try RecordView(bytes, layout: layout)
      var values: [Value] = []
      for attribute in current.attributes {
        if let slot = layout.slotIndex(ofAttribute: attribute.number) {
          var value = try view.value(at: layout.slots[slot])
          if let known = try outlines[attribute.number]?.withoutUnknownMembers(value) {
            value = known
            isOther = true
          }
          values.append(value)
        } else {
          values.append(entity.attribute(number: attribute.number)?.initial ?? .null)
        }
      }
      return isOther ? try current.record(id: id, values: values) : nil
    } catch {
      throw StoreError.damagedRecord(entity: entity.name, recordID: id, error)
    }
  }
}
