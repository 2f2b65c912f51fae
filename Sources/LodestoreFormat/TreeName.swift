/// The names of all trees of a store.
///
/// See Format.md, "Trees".
package enum TreeName: Hashable, Sendable {
  case header
  case catalogue
  case counters
  case records(entity: UInt32)
  case index(entity: UInt32, index: UInt32)
  case buckets

  package var text: String {
    switch self {
    case .header: "lodestore"
    case .catalogue: "catalogue"
    case .counters: "counters"
    case .records(let entity): "records.\(entity)"
    case .index(let entity, let index): "index.\(entity).\(index)"
    case .buckets: "buckets"
    }
  }

  /// The tree that `text` names; `nil` for a name that version 1 does not list.
  package init?(_ text: String) {
    switch text {
    case "lodestore": self = .header
    case "catalogue": self = .catalogue
    case "counters": self = .counters
    case "buckets": self = .buckets
    default:
      let parts = text.split(separator: ".", omittingEmptySubsequences: false)
      let numbers = parts.dropFirst().compactMap { part in
        UInt32(part).flatMap { String($0) == part ? $0 : nil }
      }
      guard numbers.count == parts.count - 1 else { return nil }
      switch (parts.first, numbers.count) {
      case ("records", 1): self = .records(entity: numbers[0])
      case ("index", 2): self = .index(entity: numbers[0], index: numbers[1])
      default: return nil
      }
    }
  }
}

/// The field names of the header.
///
/// See Format.md, "Header".
package enum HeaderField: String, Sendable {
  case format, uuid, created, schema

  package var key: [UInt8] { Array(rawValue.utf8) }
}

/// The keys of the tree `counters`.
///
/// See Format.md, "Counters".
package enum CounterKey {
  package static func nextRecord(entity: UInt32) -> [UInt8] { [1] + bigEndianBytes(entity) }
  package static let nextEntity: [UInt8] = [2]
}

/// The keys of the tree `catalogue`.
///
/// See Format.md, "Catalogue".
package enum CatalogueKey {
  package static func entity(_ number: UInt32) -> [UInt8] { [1] + bigEndianBytes(number) }

  /// The entity number in `key`; `nil` for a key that version 1 does not list.
  package static func entityNumber(_ key: UnsafeRawBufferPointer) -> UInt32? {
    guard key.count == 5, key[0] == 1 else { return nil }
    return UInt32(bigEndian: key.loadUnaligned(fromByteOffset: 1, as: UInt32.self))
  }
}

/// The keys of the tree `buckets`.
///
/// See Format.md, "Buckets".
package enum BucketKey {
  package static let longestName = 64
  package static let longestKey = 400

  package static func prefix(bucket: String) -> [UInt8] { Array(bucket.utf8) + [0] }

  /// Splits a stored key into the bucket's name and the user's key.
  package static func split(_ key: UnsafeRawBufferPointer) -> (bucket: String, key: [UInt8])? {
    guard let zero = key.firstIndex(of: 0), zero > 0, zero <= longestName,
      let name = String(validating: key[..<zero], as: UTF8.self), key.count > zero + 1
    else { return nil }
    return (name, Array(key[(zero + 1)...]))
  }
}
