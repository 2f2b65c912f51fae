/// The name of an object of a replica, below the prefix of the replica.
///
/// Layout of the prefix, where SLOT and NUMBER have 20 digits, so that names sort by number:
///
///     replica.json                        the replica's UUID; never changes
///     log/SLOT.lsc                        the log
///     merged/LEVEL/SLOT-SLOT.lsc          net changes of several slots
///     base/SLOT-VERITY.json               the head of a base
///     base/SLOT-VERITY.lodestore.zst      the sealed file of a base in zstd frames
///     base/SLOT-VERITY.verity             the table of its frames
///     floor/NUMBER.json                   a record of the floor
///     followers/ID.json                   the mark of a registered follower
///     lease.json                          the advisory lease of the writer
package enum ReplicaName: Hashable, Sendable {
  case info, lease
  case entry(slot: UInt64)
  case merged(level: Int, slots: ClosedRange<UInt64>)
  /// `verity` has the first 64 bits of the fs-verity digest of the base's file.
  case base(slot: UInt64, verity: UInt64, BaseFile)
  /// Records of the floor start at number 1 and have no gaps.
  case floor(number: UInt64)
  case follower(id: String)

  /// A file of a base; the raw value is the end of its name.
  package enum BaseFile: String, Sendable, CaseIterable {
    case head = "json"
    case file = "lodestore.zst"
    case frames = "verity"
  }

  /// The name as text.
  package var text: String {
    switch self {
    case .info: "replica.json"
    case .lease: "lease.json"
    case .entry(let slot): "log/\(Self.digits(slot)).lsc"
    case .merged(let level, let slots):
      "merged/\(level)/\(Self.digits(slots.lowerBound))-\(Self.digits(slots.upperBound)).lsc"
    case .base(let slot, let verity, let file):
      "base/\(Self.digits(slot))-\(Self.hexadecimal(verity)).\(file.rawValue)"
    case .floor(let number): "floor/\(Self.digits(number)).json"
    case .follower(let id): "followers/\(id).json"
    }
  }

  /// The key of the object in the replica's storage.
  package var key: ObjectKey { ObjectKey(self) }

  /// The slot up to which the object has changes; `nil` for objects that no collection deletes.
  package var collectedSlot: UInt64? {
    switch self {
    case .entry(let slot), .base(let slot, _, _): slot
    case .merged(_, let slots): slots.upperBound
    case .info, .lease, .floor, .follower: nil
    }
  }

  /// Whether the name is that of a base's head.
  package var isHeadOfBase: Bool { if case .base(_, _, .head) = self { true } else { false } }

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

  private static func hexadecimal(_ number: UInt64) -> String {
    let text = String(number, radix: 16)
    return String(repeating: "0", count: 16 - text.utf8.count) + text
  }
}

// MARK: Merged slots

extension ReplicaName {
  /// The number of slots of level 1, and of entries of a level that one of the next level has.
  package static let mergeFactor: UInt64 = 16
  /// The highest level of merged entries.
  package static let highestLevel = 9

  /// Returns the slots of the merged entry of a level that has `slot`: 1 to 16, 17 to 32, and so
  /// on.
  package static func mergedSlots(_ level: Int, containing slot: UInt64) -> ClosedRange<UInt64>? {
    guard (1...highestLevel).contains(level), (1...PackLimits.number).contains(slot) else {
      return nil
    }
    var length: UInt64 = 1
    for _ in 0..<level { length *= mergeFactor }
    let first = (slot - 1) / length * length + 1
    return first...first + (length - 1)
  }
}

// MARK: Reading

extension ReplicaName {
  /// Reads a name; `nil` for every name that this library does not write.
  package init?(_ text: String) {
    // Bytes are compared, because an equal string may have other bytes.
    guard text.utf8.count <= 128, let name = Self.parse(text),
      name.text.utf8.elementsEqual(text.utf8)
    else { return nil }
    self = name
  }

  private static func parse(_ text: String) -> ReplicaName? {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard let file = parts.last, let folder = parts.first else { return nil }
    if parts.count == 1 { return [.info, .lease].first { $0.text == text } }
    guard parts.count == (folder == "merged" ? 3 : 2) else { return nil }
    switch folder {
    case "log": return stem(file, ".lsc").flatMap(number).map { .entry(slot: $0) }
    case "merged": return stem(file, ".lsc").flatMap { merged(parts[1], $0) }
    case "base": return base(file)
    case "floor": return stem(file, ".json").flatMap(number).map { .floor(number: $0) }
    case "followers":
      guard let id = stem(file, ".json").map(String.init), isFollowerID(id) else { return nil }
      return .follower(id: id)
    default: return nil
    }
  }

  private static func stem(_ file: Substring, _ end: String) -> Substring? {
    file.hasSuffix(end) ? file.dropLast(end.count) : nil
  }

  /// Reads 20 digits of a slot or a number.
  private static func number(_ text: Substring) -> UInt64? {
    guard text.utf8.count == 20,
      text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
      let number = UInt64(text), (1...PackLimits.number).contains(number)
    else { return nil }
    return number
  }

  private static func merged(_ level: Substring, _ stem: Substring) -> ReplicaName? {
    let slots = stem.split(separator: "-", omittingEmptySubsequences: false).map(number)
    guard slots.count == 2, let first = slots[0], let last = slots[1], first <= last,
      let level = Int(level), (1...highestLevel).contains(level)
    else { return nil }
    return .merged(level: level, slots: first...last)
  }

  private static func base(_ file: Substring) -> ReplicaName? {
    for kind in BaseFile.allCases {
      guard let stem = stem(file, "." + kind.rawValue), stem.utf8.count == 37,
        let slot = number(stem.prefix(20)), let verity = UInt64(stem.suffix(16), radix: 16)
      else { continue }
      return .base(slot: slot, verity: verity, kind)
    }
    return nil
  }
}

/// A folder of a replica's objects that can be listed.
package enum ReplicaFolder: String, Sendable, CaseIterable {
  case log, merged, base, followers
}
