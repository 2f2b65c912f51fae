/// The name of an object below the prefix of a replica.
///
/// Numbers in names have 20 digits, so that names sort by number.
enum ObjectName: Hashable, Sendable {
  /// The entry of a slot: `log/<slot>.lsc`.
  case log(slot: UInt64)
  /// A record of the floor: `floor/<number>.json`. Numbers start at 1 and have no gaps.
  case floor(number: UInt64)
  /// The sealed file of a base: `base/<slot>-<verity>.lodestore.zst`.
  case base(slot: UInt64, verity: UInt64)
  /// The head of a base, which is written after its file: `base/<slot>-<verity>.json`.
  case baseHead(slot: UInt64, verity: UInt64)
  /// The merged changes of slots: `merged/<level>/<first>-<last>.lsc`.
  case merged(level: UInt8, first: UInt64, last: UInt64)
  /// An object that tests the storage: `probe/<number>`.
  case probe(number: UInt64)

  /// The path below the prefix.
  var path: String {
    switch self {
    case .log(let slot): "log/\(Self.digits(slot)).lsc"
    case .floor(let number): "floor/\(Self.digits(number)).json"
    case .base(let slot, let verity):
      "base/\(Self.digits(slot))-\(Self.hex(verity)).lodestore.zst"
    case .baseHead(let slot, let verity): "base/\(Self.digits(slot))-\(Self.hex(verity)).json"
    case .merged(let level, let first, let last):
      "merged/\(level)/\(Self.digits(first))-\(Self.digits(last)).lsc"
    case .probe(let number): "probe/\(Self.hex(number))"
    }
  }

  /// Parses a path below the prefix, and returns nil for one that ``path`` cannot return.
  init?(path: String) {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2 || (parts.count == 3 && parts[0] == "merged") else { return nil }
    let file = parts[parts.count - 1]
    let stem = file.prefix { $0 != "." }
    let numbers = stem.split(separator: "-", omittingEmptySubsequences: false)
    let first = numbers.first.flatMap { UInt64($0) } ?? 0
    let last = numbers.last ?? ""
    switch parts[0] {
    case "log": self = .log(slot: first)
    case "floor": self = .floor(number: first)
    case "base":
      let verity = UInt64(last, radix: 16) ?? 0
      self =
        file.hasSuffix(".json")
        ? .baseHead(slot: first, verity: verity) : .base(slot: first, verity: verity)
    case "merged":
      guard let level = UInt8(parts[1]) else { return nil }
      self = .merged(level: level, first: first, last: UInt64(last) ?? 0)
    case "probe": self = .probe(number: UInt64(stem, radix: 16) ?? 0)
    default: return nil
    }
    // A name with other digits, signs or endings is not one of the replica's.
    if self.path != path { return nil }
  }

  /// The slot up to which the object holds changes, or nil for objects that no collection deletes.
  var collectedSlot: UInt64? {
    switch self {
    case .log(let slot): slot
    case .base(let slot, _), .baseHead(let slot, _): slot
    case .merged(_, _, let last): last
    case .floor, .probe: nil
    }
  }

  private static func digits(_ number: UInt64) -> String {
    let text = String(number)
    return String(repeating: "0", count: 20 - text.count) + text
  }

  private static func hex(_ number: UInt64) -> String {
    let text = String(number, radix: 16)
    return String(repeating: "0", count: 16 - text.count) + text
  }
}

/// A folder of objects that can be listed.
enum ObjectFolder: String, Sendable, CaseIterable {
  case log, merged, base, probe
}
