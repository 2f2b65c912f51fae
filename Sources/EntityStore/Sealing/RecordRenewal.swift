internal import LMDB
internal import LodestoreFormat

/// Brings records of old layouts into the current one, where the old one has attributes that were removed.
///
/// A removed attribute's values stay in records that nobody has changed since. A sealed file is for others, and
/// has none of them.
struct RecordRenewal {
  private let entity: EntityDescription
  private let current: RecordLayout
  /// The layouts with attributes that the current one does not have, by their numbers.
  private let outdated: [UInt16: RecordLayout]

  init(_ entity: EntityDescription) {
    self.entity = entity
    let current = entity.layout
    self.current = current
    let outdated = entity.layouts.filter { layout in
      layout.attributes.contains { current.slotIndex(ofAttribute: $0.number) == nil }
    }
    self.outdated = Dictionary(outdated.map { ($0.number, $0) }) { first, _ in first }
  }

  /// The record in the current layout; `nil` where it may stay as it is.
  func renewed(_ bytes: UnsafeRawBufferPointer, id: UInt64) throws -> [UInt8]? {
    if outdated.isEmpty { return nil }
    guard let layout = outdated[try RecordLayout.layoutNumber(of: bytes)] else { return nil }
    do {
      let view = try RecordView(bytes, layout: layout)
      var values: [Value] = []
      for attribute in current.attributes {
        if let slot = layout.slotIndex(ofAttribute: attribute.number) {
          values.append(try view.value(at: layout.slots[slot]))
        } else {
          values.append(entity.attribute(number: attribute.number)?.initial ?? .null)
        }
      }
      return try current.record(id: id, values: values)
    } catch {
      throw StoreError.damagedRecord(entity: entity.name, recordID: id, error)
    }
  }
}
