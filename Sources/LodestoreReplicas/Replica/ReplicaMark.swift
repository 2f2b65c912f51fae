internal import EntityStore
internal import LodestoreDatasets
internal import LodestoreFormat

/// The place in a replica's log that a store has, which it keeps with its cursor.
///
/// The mark is written in the transaction of the changes that lead to the place.
struct ReplicaMark: Sendable, Hashable {
  /// The part that a store plays.
  enum Role: String, Sendable {
    /// The store's writes go to the log.
    case writer
    /// The store receives the writes of the log.
    case follower
  }

  /// The UUID of the replica, which the cursor has.
  let replica: UUIDBytes
  var role: Role
  var slot: UInt64
  /// The hash of the slot's entry; empty for slot 0.
  var entry: [UInt8]
  var epoch: UInt64
  /// The last write of the log up to the slot.
  var lastWrite: UInt64
  /// The number of a write in the store's own history that has the number ``lastWrite`` in the log.
  ///
  /// The numbers differ in a store that was a follower before it took over. In a copy, the number
  /// is that of the last write that the follower may have made.
  var localWrite: UInt64
  /// The newest record of the floor that was read.
  var floor: Floor
  /// The sessions of this store whose entries may follow the place, the newest first; empty in a
  /// follower.
  var sessions: [UUIDBytes]
  /// The fingerprint of the catalogue after the last entry; `nil` if it is not known.
  var schema: [UInt8]?
  /// The digests after the last entry, for buckets; `nil` if they are not known.
  var bucketDigests: [String: [UInt8]]?
  var bucketTotal: [UInt8] = []

  private static let name = "the store's mark"
  /// The maximum number of sessions.
  static let sessionLimit = 16
  /// The text of a UUID has 36 bytes, and a comma follows.
  private static let sessionsByteLimit = sessionLimit * 37
  /// The consumer of a writer's history, which keeps the writes that are not sent from a purge.
  static let consumer = "lodestore.replica"

  init(
    role: Role, _ position: ChainPosition, localWrite: UInt64, floor: Floor,
    sessions: [UUIDBytes] = [], schema: [UInt8]? = nil, digests: ReplayDigests? = nil
  ) {
    replica = position.store
    self.role = role
    slot = position.slot
    entry = position.hash
    epoch = position.epoch
    lastWrite = position.lastWrite
    self.localWrite = localWrite
    self.floor = floor
    self.sessions = sessions
    self.schema = schema
    if let digests, digests.buckets.count <= 256 {
      bucketDigests = digests.buckets
      bucketTotal = digests.bucketTotal
    }
  }

  /// The place in the log.
  func position(of store: UUIDBytes) -> ChainPosition {
    ChainPosition(slot: slot, hash: entry, epoch: epoch, store: store, lastWrite: lastWrite)
  }

  /// Throws if another program has written the copy since its last changes of the log.
  ///
  /// A takeover of such a copy would give the replica content that its log does not have. Marks of
  /// an earlier version have no number of the copy's own write, and are accepted.
  ///
  /// - Parameter last: The number of the last write in the copy's own history.
  func requireUnchanged(_ path: String, lastWrite last: UInt64) throws {
    guard role == .follower, localWrite > 0, last > localWrite else { return }
    throw ReplicaError(
      .diverged,
      "cannot take over with '\(path)': another program has written this copy, so its content "
        + "differs from the replica's; take over at a new path, which begins at the newest base",
      slot: slot)
  }

  /// Reads the mark of a store that has a part in a replica.
  init(reading bytes: [UInt8], of replica: UUIDBytes) throws(PackError) {
    let object = try ReplicaObject(bytes, Self.name)
    self.replica = replica
    guard let role = Role(rawValue: try object.text("role")) else { throw object.wrong("role") }
    self.role = role
    slot = try object.number("slot", 0...PackLimits.number)
    entry = slot == 0 ? [] : try object.digest("entry").bytes
    epoch = try object.number("epoch", 0...PackLimits.number)
    lastWrite = try object.number("lastWrite", 0...PackLimits.write)
    localWrite = try object.number("localWrite", 0...PackLimits.write)
    floor = Floor(
      number: try object.number("floorNumber", 0...PackLimits.number),
      slot: try object.number("floorSlot", 0...PackLimits.number))
    let texts =
      object.has("sessions")
      ? try object.text("sessions", atMost: Self.sessionsByteLimit).split(separator: ",") : []
    sessions = texts.compactMap { UUIDBytes(text: String($0)) }
    guard sessions.count == texts.count else { throw object.wrong("sessions") }
    schema = (try? object.digest("schema"))?.bytes
    guard let list = try? object.text("bucketTotal"), let total = HexText.decoded(list) else {
      return
    }
    bucketTotal = total
    let count = try object.number("bucketCount", 0...256)
    var digests: [String: [UInt8]] = [:]
    for index in 0..<count {
      let pair = try object.object("bucket\(index)")
      guard let digest = HexText.decoded(try pair.text("digest")) else {
        throw pair.wrong("digest")
      }
      digests[try pair.text("name")] = digest
    }
    bucketDigests = digests
  }

  var bytes: [UInt8] {
    ReplicaObjectWriter.bytes { writer in
      writer.text("role", role.rawValue)
      writer.number("slot", slot)
      if slot > 0 { writer.text("entry", HexText.encoded(entry)) }
      writer.number("epoch", epoch)
      writer.number("lastWrite", lastWrite)
      writer.number("localWrite", localWrite)
      writer.number("floorNumber", floor.number)
      writer.number("floorSlot", floor.slot)
      if !sessions.isEmpty {
        writer.text("sessions", sessions.map(\.text).joined(separator: ","))
      }
      if let schema { writer.text("schema", HexText.encoded(schema)) }
      guard let bucketDigests else { return }
      writer.text("bucketTotal", HexText.encoded(bucketTotal))
      writer.number("bucketCount", UInt64(bucketDigests.count))
      for (index, pair) in bucketDigests.sorted(by: { $0.key < $1.key }).enumerated() {
        writer.object("bucket\(index)") {
          $0.text("name", pair.key)
          $0.text("digest", HexText.encoded(pair.value))
        }
      }
    }
  }

  /// The digests by which changed buckets are found; `nil` if they are not known.
  var digests: ReplayDigests? {
    bucketDigests.map { ReplayDigests(contents: [:], bucketTotal: bucketTotal, buckets: $0) }
  }
}

extension ReplicaMark {
  /// The mark of a store; `nil` if the store has no part in a replica.
  static func of(_ store: Store) throws -> ReplicaMark? {
    guard let cursor = try store.read({ try $0.replicaCursor() }), !cursor.mark.isEmpty else {
      return nil
    }
    do {
      return try ReplicaMark(reading: cursor.mark, of: UUIDBytes(bytes: cursor.storeID))
    } catch { throw ReplicaError(error) }
  }
}
