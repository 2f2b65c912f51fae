package import LodestoreDatasets
package import LodestoreFormat

/// The object `base/SLOT-VERITY.json`: the facts about a base, a sealed file.
///
/// A writer uploads the file and the table of its frames before this object, so a base without it
/// does not exist.
package struct BaseHead: ReplicaDocument {
  /// A file of the base, in the folder of the base.
  package struct File: Sendable, Hashable {
    package var length: UInt64
    package var sha256: FileDigest

    package init(length: UInt64, sha256: FileDigest) {
      self.length = length
      self.sha256 = sha256
    }
  }

  /// An entity of the base's store.
  package struct Entity: Sendable, Hashable {
    package var name: String
    /// The id of the next new record.
    package var nextID: UInt64

    package init(name: String, nextID: UInt64) {
      self.name = name
      self.nextID = nextID
    }
  }

  /// The slot whose state the base has: all entries up to it, and no later one.
  package var slot: UInt64
  /// The hash of the log's entry at the slot.
  package var entry: FileDigest
  package var epoch: UInt64
  package var store: UUIDBytes
  package var lastWrite: UInt64
  /// The time of the last write.
  package var time: Double
  /// The ``SchemaFingerprint`` of the catalogue.
  package var schema: FileDigest
  /// The digests of the replicated content, by the keys of the tree `digests`.
  package var digests: [[UInt8]: ContentDigest]
  /// The length of the sealed file.
  package var length: UInt64
  /// The fs-verity digest of the sealed file.
  package var verity: FileDigest
  /// The file in zstd frames.
  package var packed: File
  /// The table of the frames.
  package var frames: File
  /// The entities by their numbers; empty if they are not known.
  ///
  /// Entries of the log have only the numbers. With the names a reader of the log needs no base.
  package var entities: [EntityNumber: Entity] = [:]

  package init(
    slot: UInt64, entry: FileDigest, epoch: UInt64, store: UUIDBytes, lastWrite: UInt64,
    time: Double, schema: FileDigest, digests: [[UInt8]: ContentDigest], length: UInt64,
    verity: FileDigest, packed: File, frames: File
  ) {
    self.slot = slot
    self.entry = entry
    self.epoch = epoch
    self.store = store
    self.lastWrite = lastWrite
    self.time = time
    self.schema = schema
    self.digests = digests
    self.length = length
    self.verity = verity
    self.packed = packed
    self.frames = frames
  }

  /// The name of one of the base's objects.
  package func name(of file: ReplicaName.BaseFile) -> ReplicaName {
    let start = verity.bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    return .base(slot: slot, verity: start, file)
  }

  /// The place in the log after the base.
  package var position: ChainPosition {
    ChainPosition(
      slot: slot, hash: entry.bytes, epoch: epoch, store: store, lastWrite: lastWrite)
  }

  /// The maximum length of a sealed file in bytes.
  static let lengthLimit: UInt64 = 1 << 40

  package init(reading bytes: [UInt8], named name: String) throws(PackError) {
    let object = try ReplicaObject(bytes, name)
    slot = try object.number("slot", 1...PackLimits.number)
    entry = try object.digest("entry")
    epoch = try object.number("epoch", 1...PackLimits.number)
    store = try object.uuid("store")
    lastWrite = try object.number("lastWrite", 0...PackLimits.write)
    time = try object.date("time")
    schema = try object.digest("schema")
    digests = try object.digests("digests")
    let file = try object.object("file")
    length = try file.number("length", 1...Self.lengthLimit)
    verity = try file.digest("verity")
    packed = try File(try object.object("packed"))
    frames = try File(try object.object("frames"))
    if object.has("entities") { entities = try Self.entities(try object.object("entities")) }
    let ownName = self.name(of: .head).text
    guard ownName == name else { throw object.fault("it describes '\(ownName)'") }
  }

  package var bytes: [UInt8] {
    ReplicaObjectWriter.bytes {
      $0.number("slot", slot)
      $0.text("entry", entry.description)
      $0.number("epoch", epoch)
      $0.text("store", store.text)
      $0.number("lastWrite", lastWrite)
      $0.date("time", time)
      $0.text("schema", schema.description)
      $0.digests("digests", digests)
      $0.object("file") {
        $0.number("length", length)
        $0.text("verity", verity.description)
      }
      $0.object("packed", packed.write)
      $0.object("frames", frames.write)
      if entities.isEmpty { return }
      $0.object("entities") { object in
        for (number, entity) in entities.sorted(by: { $0.key < $1.key }) {
          object.object("\(number.rawValue)") {
            $0.text("name", entity.name)
            $0.number("nextID", entity.nextID)
          }
        }
      }
    }
  }

  private static func entities(
    _ object: ReplicaObject
  ) throws(PackError) -> [EntityNumber: Entity] {
    var entities: [EntityNumber: Entity] = [:]
    for key in object.keys {
      guard let number = UInt32(key), number > 0, "\(number)" == key, entities.count < 1 << 14
      else { throw object.wrong("entities") }
      let member = try object.object(key)
      let entity = Entity(
        name: try member.text("name"), nextID: try member.number("nextID", 1...1 << 63))
      guard entities.updateValue(entity, forKey: EntityNumber(number)) == nil else {
        throw object.wrong("entities")
      }
    }
    return entities
  }
}

extension BaseHead.File {
  fileprivate init(_ object: ReplicaObject) throws(PackError) {
    length = try object.number("length", 1...BaseHead.lengthLimit * 2)
    sha256 = try object.digest("sha256")
  }

  fileprivate func write(_ writer: inout ReplicaObjectWriter) {
    writer.number("length", length)
    writer.text("sha256", sha256.description)
  }
}
