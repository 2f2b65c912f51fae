internal import EntityStore
internal import LodestoreBytes
internal import LodestoreFormat
internal import LodestoreJSON
internal import LodestoreSystem

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Writes the writes of a store's history that no replica has, as lines of JSON.
struct DivergedExport {
  private let store: Store
  private let mark: ReplicaMark?

  init(_ store: Store) throws {
    self.store = store
    mark = try ReplicaMark.of(store)
  }

  func write(to path: String, from first: UInt64?) throws -> Int {
    let numbers = WriteNumbers(local: mark?.localWrite ?? 0, log: mark?.lastWrite ?? 0)
    let after = first.map(numbers.inStore(before:)) ?? mark?.localWrite ?? 0
    let temporary = path + ".new"
    let descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw ReplicaError.system(errno, "write", temporary) }
    defer {
      close(descriptor)
      unlink(temporary)
    }
    var count = 0
    try DynamicStore(store).read { snapshot in
      try store.read { history in
        _ = try history.forEachReplayStep(ReplayRequest(after: after)) { step in
          let line = try Self.line(of: step, numbers, snapshot)
          let code = line._withBytes { $0.writeAll(to: descriptor) }
          guard code == 0 else { throw ReplicaError.system(code, "write", temporary) }
          if !step.continues { count += Int(clamping: step.writes.count) }
        }
      }
    }
    guard fsync(descriptor) == 0 else { throw ReplicaError.system(errno, "sync", temporary) }
    guard link(temporary, path) == 0 else { throw ReplicaError.system(errno, "write", path) }
    return count
  }

  // MARK: Lines

  private static func line(
    of step: ReplayStep, _ numbers: WriteNumbers, _ snapshot: DynamicSnapshot
  ) throws -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("write")
    writer.unsigned(numbers.inLog(step.writes.upperBound))
    if step.writes.count > 1 {
      writer.key("firstWrite")
      writer.unsigned(numbers.inLog(step.writes.lowerBound))
    }
    writer.key("time")
    writer.string(ISO8601Text.text(Date(timeIntervalSinceReferenceDate: step.time)) ?? "")
    for (key, text) in [("author", step.author), ("context", step.context)] {
      guard let text else { continue }
      writer.key(key)
      writer.string(text)
    }
    writer.key("records")
    writer.beginArray()
    for records in step.records { try append(records, snapshot, to: &writer) }
    writer.endArray()
    writer.key("deleted")
    writer.beginArray()
    for deleted in step.deleted {
      for id in deleted.ids {
        writer.beginObject()
        writer.key("entity")
        writer.string(snapshot.entityName(deleted.entity))
        writer.key("id")
        writer.unsigned(id)
        writer.endObject()
      }
    }
    writer.endArray()
    writer.key("links")
    writer.beginArray()
    for group in step.links {
      for pair in group.pairs {
        writer.beginObject()
        writer.key("relationship")
        writer.string(snapshot.relationshipName(group.relationship) ?? "\(group.relationship)")
        writer.key("kind")
        writer.string("\(group.kind)")
        writer.key("from")
        writer.unsigned(pair.from)
        writer.key("to")
        writer.unsigned(pair.to)
        writer.endObject()
      }
    }
    writer.endArray()
    writer.endObject()
    return writer.bytes + [0x0A]
  }

  private static func append(
    _ records: ReplayStep.Records, _ snapshot: DynamicSnapshot, to writer: inout JSONWriter
  ) throws {
    for (index, id) in records.ids.enumerated() {
      writer.beginObject()
      writer.key("entity")
      writer.string(snapshot.entityName(records.entity))
      writer.key("id")
      writer.unsigned(id)
      writer.key("values")
      writer.beginObject()
      try records.bytes._withBytes { bytes in
        let range = records.range(at: index)
        guard
          let (record, entity) = snapshot.record(bytes[range], id: id, of: records.entity)
        else { return }
        let reader = try record.reader(verifyingChecksum: true)
        for attribute in entity.description.declaredAttributes {
          writer.key(attribute.name)
          try append(try reader.value(of: attribute), to: &writer)
        }
      }
      writer.endObject()
      writer.endObject()
    }
  }

  /// Appends a value in the form that an import reads.
  private static func append(_ value: Value, to writer: inout JSONWriter) throws {
    var text: [UInt8]?
    if let exact = try ExactJSON.text(of: value) {
      text = Array(exact.utf8)
    } else if case .document(let document) = value {
      var bytes: [UInt8] = []
      try document._withBytes { try DocumentText.append($0, to: &bytes) }
      text = bytes
    }
    if let text {
      return try writer.write(JSONValue(parsing: text))
    }
    switch value {
    case .null: writer.null()
    case .bool(let flag): writer.bool(flag)
    case .integer(let number): writer.integer(number)
    case .unsigned(let number): writer.unsigned(number)
    case .double(let number) where number.isFinite: try writer.double(number)
    case .double(let number):
      writer.string(number.isNaN ? "NaN" : number < 0 ? "-Infinity" : "Infinity")
    case .data(let data): writer.string(Data(data).base64EncodedString())
    default: writer.string(KeyText.text(of: value))
    }
  }
}

extension DynamicSnapshot {
  fileprivate func entityName(_ number: EntityNumber) -> String {
    entities.first { $0.description.number == number }?.name ?? "entity \(number)"
  }
}
