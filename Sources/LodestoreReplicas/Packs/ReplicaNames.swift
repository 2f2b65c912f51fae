/// The names of a replica's objects, relative to the prefix of the replica.
///
/// Layout of the prefix, where SLOT has 20 digits:
///
///     replica.json                        the store's UUID; never changes
///     log/SLOT.lsc                        the log
///     merged/LEVEL/SLOT-SLOT.lsc          net changes of several slots
///     base/SLOT-VERITY.json               the head of a base
///     base/SLOT-VERITY.lodestore.zst      the sealed file of a base in zstd frames
///     base/SLOT-VERITY.verity             the table of its frames
///     followers/ID.json                   the mark of a registered follower
///     floor.json, lease.json, head.json
package enum ReplicaNames {
  package static let info = "replica.json"
  package static let floor = "floor.json"
  package static let lease = "lease.json"
  package static let headHint = "head.json"
  /// The folders of lists.
  package static let log = "log/"
  package static let merged = "merged/"
  package static let bases = "base/"
  package static let followers = "followers/"

  /// The number of slots that each level of merged entries has as a power of this number.
  package static let mergeFactor: UInt64 = 16
  /// The highest level of merged entries.
  package static let highestLevel = 9

  package static func entry(_ slot: UInt64) -> String { "\(log)\(digits(slot)).lsc" }

  package static func merged(_ level: Int, _ slots: ClosedRange<UInt64>) -> String {
    "\(merged)\(level)/\(digits(slots.lowerBound))-\(digits(slots.upperBound)).lsc"
  }

  package static func base(_ slot: UInt64, verity: String, _ file: BaseFile) -> String {
    "\(bases)\(digits(slot))-\(verity).\(file.rawValue)"
  }

  package static func follower(_ id: String) -> String { "\(followers)\(id).json" }

  /// A file of a base; the raw value is the end of its name.
  package enum BaseFile: String, Sendable, CaseIterable {
    case head = "json"
    case file = "lodestore.zst"
    case frames = "verity"
  }

  /// The slots of the merged entry of a level that has `slot`: 1 to 16, 17 to 32, and so on.
  package static func mergedSlots(_ level: Int, containing slot: UInt64) -> ClosedRange<UInt64>? {
    guard (1...highestLevel).contains(level), (1...PackLimits.number).contains(slot) else {
      return nil
    }
    var length: UInt64 = 1
    for _ in 0..<level { length *= mergeFactor }
    let first = (slot - 1) / length * length + 1
    return first...first + (length - 1)
  }

  /// Returns whether a text can be a follower's id: 1 to 64 ASCII letters, digits, `.`, `-` and
  /// `_`, the first a letter or digit.
  package static func isFollowerID(_ text: String) -> Bool {
    guard let first = text.utf8.first, text.utf8.count <= 64, isLetterOrDigit(first) else {
      return false
    }
    return text.utf8.allSatisfy { isLetterOrDigit($0) || ".-_".utf8.contains($0) }
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"):
      true
    default: false
    }
  }

  private static func digits(_ number: UInt64) -> String {
    let text = String(number)
    return String(repeating: "0", count: 20 - text.utf8.count) + text
  }
}

extension ReplicaNames {
  /// The object that a name states.
  package enum Object: Hashable, Sendable {
    case info, floor, lease, headHint
    case entry(slot: UInt64)
    case merged(level: Int, slots: ClosedRange<UInt64>)
    /// `verity` has the first 16 hexadecimal digits of the file's digest.
    case base(slot: UInt64, verity: String, BaseFile)
    case follower(id: String)

    package var isBase: Bool { if case .base(_, _, .head) = self { true } else { false } }

    /// The object's name.
    package var name: String {
      switch self {
      case .info: ReplicaNames.info
      case .floor: ReplicaNames.floor
      case .lease: ReplicaNames.lease
      case .headHint: ReplicaNames.headHint
      case .entry(let slot): ReplicaNames.entry(slot)
      case .merged(let level, let slots): ReplicaNames.merged(level, slots)
      case .base(let slot, let verity, let file):
        ReplicaNames.base(slot, verity: verity, file)
      case .follower(let id): ReplicaNames.follower(id)
      }
    }

    /// Reads a name; `nil` for every name that this library does not write.
    package init?(_ name: String) {
      // Bytes are compared, because an equal string may have other bytes.
      guard name.utf8.count <= 128, let object = Self.parse(name),
        object.name.utf8.elementsEqual(name.utf8)
      else { return nil }
      self = object
    }

    private static func parse(_ name: String) -> Object? {
      switch name {
      case ReplicaNames.info: return .info
      case ReplicaNames.floor: return .floor
      case ReplicaNames.lease: return .lease
      case ReplicaNames.headHint: return .headHint
      default: break
      }
      let parts = name.split(separator: "/", omittingEmptySubsequences: false)
      guard let file = parts.last, parts.count == (parts[0] == "merged" ? 3 : 2) else { return nil }
      switch parts[0] {
      case "log": return stem(file, ".lsc").flatMap(slot).map { .entry(slot: $0) }
      case "merged": return stem(file, ".lsc").flatMap { merged(parts[1], $0) }
      case "base": return base(file)
      case "followers":
        guard let id = stem(file, ".json").map(String.init), ReplicaNames.isFollowerID(id) else {
          return nil
        }
        return .follower(id: id)
      default: return nil
      }
    }

    private static func stem(_ file: Substring, _ end: String) -> Substring? {
      file.hasSuffix(end) ? file.dropLast(end.count) : nil
    }

    /// Reads 20 digits of a slot.
    private static func slot(_ text: Substring) -> UInt64? {
      guard text.utf8.count == 20,
        text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
        let slot = UInt64(text), (1...PackLimits.number).contains(slot)
      else { return nil }
      return slot
    }

    private static func merged(_ level: Substring, _ stem: Substring) -> Object? {
      let slots = stem.split(separator: "-", omittingEmptySubsequences: false).map(slot)
      guard slots.count == 2, let first = slots[0], let last = slots[1], first <= last,
        let level = Int(level), (1...ReplicaNames.highestLevel).contains(level)
      else { return nil }
      return .merged(level: level, slots: first...last)
    }

    private static func base(_ file: Substring) -> Object? {
      for kind in BaseFile.allCases {
        guard let stem = stem(file, "." + kind.rawValue), stem.utf8.count == 37,
          let slot = slot(stem.prefix(20))
        else { continue }
        let verity = stem.suffix(16)
        guard verity.utf8.allSatisfy({ "0123456789abcdef".utf8.contains($0) }) else { return nil }
        return .base(slot: slot, verity: String(verity), kind)
      }
      return nil
    }
  }
}
