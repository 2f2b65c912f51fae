import LMDB
import LodestoreFormat

@testable import KVDumpCommands
@testable import LodestorePages
@testable import LodestoreVerifier

/// Faults of documents, index keys and ids.
extension Fault {
  private static func document(_ name: String, _ bytes: [UInt8]) -> Fault {
    Fault(name) {
      let key = ImportKey.state.bytes(name: "Film")
      try $0.put(key, Checksum.sealed(key: key, content: bytes), .imports)
    }
  }

  /// Arrays within arrays, the innermost without elements.
  private static func nested(_ depth: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    for level in 0..<depth {
      let count = UInt32(level == 0 ? 0 : 1)
      bytes =
        [0x0c] + littleEndianBytes(UInt32(4 + bytes.count)) + littleEndianBytes(count) + bytes
    }
    return bytes
  }

  static let documentFaults: [Fault] = [
    document("an integer is longer than it need be", [3, 0x80, 0]),
    document("a text of a document is not UTF-8", [6, 1, 0xff]),
    document("a document ends before its bytes", [2, 2]),
    document(
      "an object's members are in the wrong order",
      [0x0d, 10, 0, 0, 0, 2, 0, 0, 0, 1, 0x62, 0, 1, 0x61, 0]),
    document("arrays are nested 129 deep", nested(129)),
  ]

  private static func key(_ name: String, _ tuple: [UInt8]) -> Fault {
    Fault(name) {
      try $0.put(tuple + bigEndianBytes(UInt64(2)), [], TreeName.index(entity: 1, index: 2))
    }
  }

  static let keyFaults: [Fault] = [
    key("a key has an unknown code", [0x50]),
    Fault("a key ends within a text") {
      try $0.put(
        [2] + [UInt8](repeating: 0x41, count: 12), [], TreeName.index(entity: 1, index: 2))
    },
    key("an integer of a key has a byte too many", [0x16, 0, 1]),
    key("a key has a negative zero", [0x21, 0x7f] + [UInt8](repeating: 0xff, count: 7)),
    key("a text of a key is not UTF-8", [2, 0xff, 0]),
    key("a text of a key is not in NFC", [2, 0x65, 0xcc, 0x81, 0]),
    key("a decimal of a key has an unknown class", [0x40, 9]),
    Fault("a record's id is 2^63") { store in
      let body = try VerifiedStore.filmLayout.record(
        id: 1 << 63, values: VerifiedStore.filmValues(50))
      try store.putRecord(1 << 63, body)
    },
  ]
}
