internal import LodestoreBytes

/// The members of the records of one source, with the attribute slot of each.
///
/// For each member, the table stores the member that followed it last. Records of a page mostly
/// have the same members in the same order, so one comparison finds a member. The hash table is
/// searched only when a record has more or fewer members than the record before.
struct MemberTable {
  /// The slot of members without an attribute.
  static let unknown = -1
  /// The slot of a member that is skipped.
  static let ignored = -2
  /// The member number before the first member of a record.
  static let start = -1

  /// The maximum number of members, which bounds the memory when each record has other members.
  private static let limit = 1000
  private static let byteLimit = 1 << 16
  private static let slotCount = 4096

  /// The claim of a member to its attribute.
  ///
  /// When a record has two members for one attribute, the higher claim fills it.
  enum Claim: UInt8 {
    /// The member has the attribute's name.
    case name
    /// The attribute has the member's name as its source.
    case source
    /// The import maps the member to the attribute.
    case map
  }

  struct Member {
    let name: String
    fileprivate let start: Int
    fileprivate let count: Int
    /// The slot of the attribute in the layout, ``unknown`` or ``ignored``.
    let slot: Int
    let claim: Claim
    /// The number of the member that followed this one in the last record with this member.
    fileprivate var next = -1
    /// The number of occurrences, if the member has no attribute.
    fileprivate(set) var unknownCount = 0
  }

  private var bytes: [UInt8] = []
  private var members: [Member] = []
  /// The numbers of members, by the hashes of their names, with open addressing; −1 marks a free
  /// slot.
  private var slots = [Int16](repeating: -1, count: slotCount)
  /// The number of the first member of the record that was read last.
  ///
  /// The next record probably begins with the same member.
  private var first = -1

  subscript(number: Int) -> Member { members[number] }

  /// Whether the table has no room for another member.
  var isFull: Bool { members.count == Self.limit || bytes.count > Self.byteLimit }

  /// Returns the number of the member with this name; `nil` when it is not in the table.
  @inline(__always)
  mutating func find(_ name: ByteView, after last: Int) -> Int? {
    let guess = last < 0 ? first : members[last].next
    if guess >= 0, isNamed(guess, name) { return guess }
    return search(name, after: last)
  }

  @inline(never)
  private mutating func search(_ name: ByteView, after last: Int) -> Int? {
    var slot = Self.slot(of: name)
    while slots[slot] >= 0 {
      let number = Int(slots[slot])
      if isNamed(number, name) {
        follow(last, by: number)
        return number
      }
      slot = (slot + 1) % Self.slotCount
    }
    return nil
  }

  /// Adds a member that ``find(_:after:)`` did not find; the table must not be full.
  mutating func add(_ name: String, slot: Int, claim: Claim = .name, after last: Int) -> Int {
    let number = members.count
    members.append(
      Member(
        name: name, start: bytes.count, count: name.utf8.count, slot: slot, claim: claim))
    bytes.append(contentsOf: name.utf8)
    var name = name
    var slot = name.withUTF8 { Self.slot(of: ByteView($0)) }
    while slots[slot] >= 0 { slot = (slot + 1) % Self.slotCount }
    slots[slot] = Int16(number)
    follow(last, by: number)
    return number
  }

  @inline(__always)
  mutating func countUnknown(_ number: Int) { members[number].unknownCount += 1 }

  /// Returns the counts of members without an attribute since the last call.
  mutating func takeUnknownCounts() -> [(name: String, count: Int)] {
    var counts: [(name: String, count: Int)] = []
    for number in members.indices where members[number].unknownCount > 0 {
      counts.append((members[number].name, members[number].unknownCount))
      members[number].unknownCount = 0
    }
    return counts
  }

  private mutating func follow(_ last: Int, by number: Int) {
    if last < 0 { first = number } else { members[last].next = number }
  }

  @inline(__always)
  private func isNamed(_ number: Int, _ name: ByteView) -> Bool {
    let start = members[number].start
    guard members[number].count == name.count else { return false }
    return bytes._withBytes { bytes in
      compareBytes(bytes.part(from: start, count: name.count), name, name.count) == 0
    }
  }

  private static func slot(of name: ByteView) -> Int {
    var hash = UInt64(truncatingIfNeeded: name.count)
    for byte in name { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
    return Int(truncatingIfNeeded: (hash ^ hash >> 32) % UInt64(slotCount))
  }
}
