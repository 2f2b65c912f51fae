import LodestoreBytes
import LodestoreFormat
import Testing

@testable import EntityStore

/// A kind of damage to the bytes of a stored ``Ware``.
enum RecordDamage: String, CaseIterable {
  case noByte, oneByte, headerAlone, cutBeforeLastSlot, cutBeforeEnds, cutInText
  case firstEndBehindLast, lastEndBeyond, otherLayout, unknownLayout, wideFlag, longer
  case othersNumber, othersName, otherText, textThatIsNone, otherChecksum

  /// Whether the damage is found by lengths or by the layout, without the checksum.
  var isOfShape: Bool {
    switch self {
    case .othersNumber, .othersName, .otherText, .textThatIsNone, .otherChecksum: false
    default: true
    }
  }

  /// Whether the damage gives the record the unique key of another record.
  var takesKey: Bool { self == .othersNumber || self == .othersName }

  /// The bytes of record `id`, damaged.
  func apply(to bytes: [UInt8], of entity: StoredEntity) throws -> [UInt8] {
    let layout = try #require(
      entity.layout(number: try bytes._withBytes { try RecordLayout.layoutNumber(of: $0) }))
    let ends = layout.endsOffset
    let heap = ends + 2 * layout.variableCount
    let nameCount = Int(bytes[ends])
    let checksum = bytes.count - RecordLayout.checksumSize
    var changed = bytes
    switch self {
    case .noByte: return []
    case .oneByte: return Array(bytes.prefix(1))
    case .headerAlone: return Array(bytes.prefix(2))
    case .cutBeforeLastSlot: return Array(bytes.prefix(ends - 8))
    case .cutBeforeEnds: return Array(bytes.prefix(ends))
    case .cutInText: return Array(bytes.prefix(heap + nameCount + 2))
    case .firstEndBehindLast: changed[ends] = UInt8(checksum - heap + 2)
    case .lastEndBeyond: changed[ends + 2] += 100
    case .otherLayout:
      let other = entity.description.layouts.first { $0.number != layout.number } ?? entity.layout
      changed[0] = UInt8(other.number)
    case .unknownLayout: changed[0] = 77
    case .wideFlag: changed[1] |= 0x80
    case .longer: changed += [0, 0, 0]
    case .othersNumber:
      // The numbers equal the ids, so the changed number is that of another record.
      let attribute = try #require(entity.description.attribute(named: "number"))
      let index = try #require(layout.slotIndex(ofAttribute: attribute.number))
      changed[Int(layout.slots[index].position)] ^= 2
    case .othersName: changed[heap + nameCount - 1] ^= 2
    case .otherText: changed[checksum - 1] ^= 4
    case .textThatIsNone: changed[checksum - 1] = 0xff
    case .otherChecksum: changed[checksum + 2] ^= 1
    }
    return changed
  }
}
