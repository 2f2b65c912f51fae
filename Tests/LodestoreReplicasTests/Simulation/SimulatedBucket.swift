@testable import LodestoreReplicas

/// A storage in memory that executes each request at once.
struct SimulatedBucket {
  private(set) var objects: [ReplicaName: [UInt8]] = [:]
  /// Whether a conditional request overwrites, as rclone's server does.
  var overwrites = false
  /// Whether the next object that a conditional request finds is lost afterwards.
  var losesNext = false

  mutating func execute(_ request: StorageRequest) -> StorageOutcome {
    switch request {
    case .get(let name): return objects[name].map { .object($0) } ?? .absent
    case .putIfAbsent(let name, let bytes):
      if !overwrites, objects[name] != nil {
        if losesNext { objects[name] = nil }
        losesNext = false
        return .exists
      }
      objects[name] = bytes
      return .stored
    case .delete(let name):
      objects[name] = nil
      return .deleted
    case .list(let folder, let limit):
      let names = objects.keys.filter {
        Self.folder(of: $0) == folder && ($0.collectedSlot ?? 0) <= limit
      }
      return .names(names.sorted { Self.order($0) < Self.order($1) })
    }
  }

  private static func folder(of name: ReplicaName) -> ReplicaFolder? {
    switch name {
    case .entry: .log
    case .base: .base
    case .merged: .merged
    case .follower: .followers
    case .info, .lease, .floor: nil
    }
  }

  /// The place of a name in lists: by slot, and the head of a base before its file.
  private static func order(_ name: ReplicaName) -> (UInt64, UInt64, Int) {
    guard case .base(let slot, let verity, let file) = name else {
      return (name.collectedSlot ?? 0, 0, 0)
    }
    return (slot, verity, file == .head ? 0 : 1)
  }
}
