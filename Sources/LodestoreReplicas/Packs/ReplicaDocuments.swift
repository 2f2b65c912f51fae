package import LodestoreFormat

/// A small JSON object of a replica.
///
/// Dates are seconds since 2001-01-01T00:00:00Z. As texts they have milliseconds at most, so a
/// date may change a little when it is written and read.
package protocol ReplicaDocument: Sendable, Hashable {
  /// Reads the bytes of the object `name`.
  ///
  /// - Throws: `PackError` with the code `damaged` or `newerFormat`.
  init(reading bytes: [UInt8], named name: String) throws(PackError)

  /// The bytes of the object.
  var bytes: [UInt8] { get }
}

/// The object `replica.json`, which is created once and never changes.
package struct ReplicaInfo: ReplicaDocument {
  /// The UUID of the replica, which all entries and bases name.
  ///
  /// Each replica has a random one, so that two replicas of one store differ.
  package var store: UUIDBytes
  /// The UUID of the store that began the replica.
  ///
  /// Until this store has recorded the replica in its mark, no other evidence connects them.
  package var firstStore: UUIDBytes
  package var createdAt: Double

  static let format = "lodestore-replica"

  package init(store: UUIDBytes, firstStore: UUIDBytes, createdAt: Double) {
    self.store = store
    self.firstStore = firstStore
    self.createdAt = createdAt
  }

  package init(reading bytes: [UInt8], named name: String) throws(PackError) {
    let object = try ReplicaObject(bytes, name)
    guard try object.text("format") == Self.format else { throw object.wrong("format") }
    store = try object.uuid("store")
    firstStore = try object.uuid("firstStore")
    createdAt = try object.date("createdAt")
  }

  package var bytes: [UInt8] {
    ReplicaObjectWriter.bytes {
      $0.text("format", Self.format)
      $0.text("store", store.text)
      $0.text("firstStore", firstStore.text)
      $0.date("createdAt", createdAt)
    }
  }
}

/// A record of the floor, `floor/NUMBER.json`: slots below it are collected and never used again.
///
/// Records are created once and never deleted, so the floor cannot fall. A single object would have
/// to be overwritten, and a late request of an earlier collector could lower the floor.
package struct FloorRecord: ReplicaDocument {
  /// The lowest live slot.
  package var slot: UInt64
  package var time: Double

  package init(slot: UInt64, time: Double) {
    self.slot = slot
    self.time = time
  }

  package init(reading bytes: [UInt8], named name: String) throws(PackError) {
    let object = try ReplicaObject(bytes, name)
    slot = try object.number("slot", 1...PackLimits.number)
    time = try object.date("time")
  }

  package var bytes: [UInt8] {
    ReplicaObjectWriter.bytes {
      $0.number("slot", slot)
      $0.date("time", time)
    }
  }
}

/// The object `followers/ID.json`: how far a registered follower is.
package struct FollowerMark: ReplicaDocument {
  package var id: String
  /// The last slot that the follower has applied; 0 for none.
  package var slot: UInt64
  package var lastWrite: UInt64
  package var time: Double
  /// The time after which the registration counts for nothing; `nil` leaves that to the writer.
  ///
  /// Restores set it, because a killed restore does not remove its registration.
  package var until: Double?

  package init(
    id: String, slot: UInt64, lastWrite: UInt64, time: Double, until: Double? = nil
  ) {
    self.id = id
    self.slot = slot
    self.lastWrite = lastWrite
    self.time = time
    self.until = until
  }

  package init(reading bytes: [UInt8], named name: String) throws(PackError) {
    let object = try ReplicaObject(bytes, name)
    id = try object.text("id")
    guard ReplicaName.isFollowerID(id), name == ReplicaName.follower(id: id).text else {
      throw object.wrong("id")
    }
    slot = try object.number("slot", 0...PackLimits.number)
    lastWrite = try object.number("lastWrite", 0...PackLimits.write)
    time = try object.date("time")
    until = try object.has("until") ? object.date("until") : nil
  }

  package var bytes: [UInt8] {
    ReplicaObjectWriter.bytes {
      $0.text("id", id)
      $0.number("slot", slot)
      $0.number("lastWrite", lastWrite)
      $0.date("time", time)
      if let until { $0.date("until", until) }
    }
  }

  /// Whether the follower still needs the log after its slot, by the writer's clock.
  ///
  /// A follower's clock may be years ahead. The mark counts as no newer than its first reading.
  ///
  /// - Parameter seen: The time when the writer first read this mark.
  func counts(at now: Double, seen: Double, patience: Double) -> Bool {
    guard let until else { return min(time, seen) > now - patience }
    return min(until, seen + max(until - time, 0)) > now
  }
}

/// The object `lease.json`: the machine that writes, for people and for standbys.
///
/// A lease proves nothing, and no safety depends on it.
package struct Lease: ReplicaDocument {
  /// A text that names the writer's machine or process.
  package var holder: String
  package var epoch: UInt64
  /// The end of the lease by the holder's clock.
  package var until: Double
  /// The milliseconds after which the lease ends without a renewal; `nil` in a lease of an earlier
  /// version.
  package var milliseconds: UInt64?
  /// The session of the writer; `nil` in a lease of an earlier version.
  package var session: UUIDBytes?

  package init(
    holder: String, epoch: UInt64, until: Double, milliseconds: UInt64? = nil,
    session: UUIDBytes? = nil
  ) {
    self.holder = holder
    self.epoch = epoch
    self.until = until
    self.milliseconds = milliseconds
    self.session = session
  }

  package init(reading bytes: [UInt8], named name: String) throws(PackError) {
    let object = try ReplicaObject(bytes, name)
    holder = try object.text("holder")
    epoch = try object.number("epoch", 1...PackLimits.number)
    until = try object.date("until")
    milliseconds = try? object.number("milliseconds", 1...PackLimits.number)
    session = try? object.uuid("session")
  }

  package var bytes: [UInt8] {
    ReplicaObjectWriter.bytes { writer in
      writer.text("holder", holder)
      writer.number("epoch", epoch)
      writer.date("until", until)
      if let milliseconds { writer.number("milliseconds", milliseconds) }
      if let session { writer.text("session", session.text) }
    }
  }
}
