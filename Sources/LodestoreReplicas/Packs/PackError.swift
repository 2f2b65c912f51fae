/// A failure to read or write the bytes of a replica.
///
/// `code` is for programs. `message` states the fact found, the object, and the next step.
package struct PackError: Error, Sendable, Hashable, CustomStringConvertible {
  package enum Code: Sendable, Hashable {
    /// The bytes break a rule of Format.md, "Replicas".
    case damaged
    /// The object has a version or a kind that this library does not know.
    case newerFormat
    /// An object that must exist is absent.
    case missing
    /// A limit of Format.md, "Replicas", is exceeded.
    case tooLarge
    /// A sound entry does not follow the entry before it.
    case brokenChain
    /// libzstd is not in this build, or it has failed.
    case compression
  }

  package var code: Code
  package var message: String
  /// The slot of the entry; `nil` if it is unknown.
  package var slot: UInt64?

  package init(_ code: Code, _ message: String, slot: UInt64? = nil) {
    self.code = code
    self.message = message
    self.slot = slot
  }

  package var description: String { message }

  static func damaged(_ object: String, _ reason: String, slot: UInt64? = nil) -> PackError {
    PackError(
      .damaged, "cannot read \(object): \(reason); fetch the object again or use a base", slot: slot
    )
  }

  static func missing(_ object: String, slot: UInt64? = nil) -> PackError {
    PackError(
      .missing, "cannot find \(object), which must exist; check who deletes objects of the replica",
      slot: slot)
  }

  static func newer(_ object: String, _ reason: String, slot: UInt64? = nil) -> PackError {
    PackError(.newerFormat, "cannot read \(object): \(reason); update the program", slot: slot)
  }
}

/// The limits of the objects of a replica.
package enum PackLimits {
  /// The maximum size of an entry in bytes.
  package static let entry = 64 << 20
  /// The maximum size of an entry's head in bytes.
  package static let head = 1 << 20
  /// The maximum size of all unpacked blocks of an entry in bytes.
  package static let unpacked = 1 << 30
  /// The maximum size of one unpacked block in bytes.
  package static let block = 128 << 20
  /// The size in bytes after which a writer ends a block.
  static let fullBlock = 1 << 20
  /// The compressed size in bytes after which ``PackWriter/isFull`` is true.
  static let fullBody = 40 << 20
  /// The maximum number of deleted records of an entry, which runs could state in a few bytes.
  package static let deletedRecords = 1 << 27
  /// The maximum size of a bucket's content in bytes.
  package static let bucket = 16 << 20
  /// The largest number of a slot, an epoch and a length: JSON holds it exactly.
  package static let number: UInt64 = 1 << 53 - 1
  /// The largest number of a write; see Format.md, "History".
  package static let write: UInt64 = 1 << 62
  /// The times that an entry may have: the years 0 to 9999, which the JSON objects can state, in
  /// seconds since 2001.
  static let times = -63_145_526_400.0..<252_423_993_600.0
  /// The maximum length of a text in a head or in a JSON object in bytes.
  static let text = 256

  /// A text for people, cut to the maximum length.
  static func cut(_ text: String) -> String {
    var cut = text.prefix(Self.text)
    while cut.utf8.count > Self.text { cut.removeLast() }
    return String(cut)
  }
}
