internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// Rewrites records of old layouts without removed attributes, and documents without removed
/// members.
///
/// The values of a removed attribute stay in records that nobody has changed since, and so do
/// removed members of nested types. A sealed file is for other people, and contains none of them.
struct RecordCleanup {
  private let entity: EntityDescription
  private let current: RecordLayout
  /// By layout number, the old layouts that contain attributes which the current layout lacks.
  private let outdated: [UInt16: RecordLayout]
  /// All layouts by number, if documents must be examined.
  private let layouts: [UInt16: RecordLayout]
  /// By attribute number, the outlines of document attributes whose stored documents may have
  /// removed members.
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

  /// Whether a record may need rewriting.
  var isNeeded: Bool { !outdated.isEmpty || !outlines.isEmpty }

  /// Returns the record in the current layout; `nil` when it needs no rewriting.
  func cleaned(_ bytes: ByteView, id: UInt64) throws -> [UInt8]? {
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
