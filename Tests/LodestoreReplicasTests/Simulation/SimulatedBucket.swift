@testable import LodestoreReplicas

/// The ways in which a simulated storage breaks its promises.
enum StorageLie: UInt64, CaseIterable {
  /// A conditional request overwrites, as rclone's server does.
  case overwrites
  /// A new object cannot be read for a while.
  case readsLate
  /// A list lacks the newest object.
  case listsLate
  /// A deleted object stays.
  case keepsDeleted
}

/// A storage in memory that executes each request at once.
struct SimulatedBucket {
  private(set) var objects: [ObjectName: [UInt8]] = [:]
  var lie: StorageLie?
  private var newest: ObjectName?

  mutating func execute(_ request: StorageRequest) -> StorageOutcome {
    switch request {
    case .get(let name):
      if lie == .readsLate, name == newest { return .absent }
      return objects[name].map { .object($0) } ?? .absent
    case .putIfAbsent(let name, let bytes):
      if lie != .overwrites, objects[name] != nil { return .exists }
      objects[name] = bytes
      newest = name
      return .stored
    case .delete(let name):
      if lie != .keepsDeleted { objects[name] = nil }
      return .deleted
    case .list(let folder, let limit):
      var names = objects.keys.filter { name in
        if lie == .listsLate, name == newest { return false }
        return Self.folder(of: name) == folder && (name.collectedSlot ?? 0) <= limit
      }
      names.sort { Self.order($0) < Self.order($1) }
      return .names(names)
    }
  }

  private static func folder(of name: ObjectName) -> ObjectFolder? {
    switch name {
    case .log: .log
    case .base, .baseHead: .base
    case .merged: .merged
    case .probe: .probe
    case .floor: nil
    }
  }

  /// The place of a name in lists: by slot, and the head of a base before its file.
  private static func order(_ name: ObjectName) -> (UInt64, UInt64) {
    let slot = (name.collectedSlot ?? 0) * 2
    switch name {
    case .base(_, let verity): return (slot + 1, verity)
    case .baseHead(_, let verity): return (slot, verity)
    case .probe(let number): return (slot, number)
    default: return (slot, 0)
    }
  }
}
