public import EntityStore
internal import LodestoreFormat

/// How an export writes records.
public enum ExportFormat: String, Sendable, CaseIterable {
  /// One JSON object a line, with the attributes in the order of the file. An import reads the same
  /// values from it.
  case jsonLines = "jsonl"
  /// Separated values by RFC 4180 with a heading, for other programs: null is an empty field,
  /// nested values are JSON, and bytes are Base64.
  case csv
}

extension Store {
  /// Writes the records that `query` finds into a file that other programs read, and imports.
  ///
  ///     try await store.export(Pod.all.sorted(by: \.name), to: "pods.jsonl")
  ///
  /// All records are of one commit, while the store is in use. The file has all attributes that the
  /// store has of the entity, also those that the program's type does not declare. The records' ids
  /// are left out, because a store that imports gives its own. `kvdump export` writes the same. A
  /// record is checked against its checksum before it is written.
  ///
  /// The file gets its name when it is whole and on the disk: it is there as a whole or not at all.
  /// Cancelling the task leaves none.
  ///
  /// - Parameters:
  ///   - query: which records, in which order.
  ///   - path: of the file.
  ///   - format: how records are written; where it is left out, ``ExportFormat/csv`` if the path ends in `.csv`,
  ///     else ``ExportFormat/jsonLines``.
  ///   - replacing: whether a file that is there gives way; otherwise it stays, and the call throws.
  ///   - onProgress: called on a thread of the store, a hundred times a second at most.
  /// - Returns: how many records were written.
  /// - Throws: `CancellationError` when the task is cancelled; `StoreError`:
  ///   `StoreError.Code.unsuitablePath` where a file is there, `StoreError.Code.damaged` for a
  ///   record that cannot be read, and as a fetch.
  @discardableResult
  public func export<E: Entity>(
    _ query: Query<E>, to path: String, as format: ExportFormat? = nil, replacing: Bool = false,
    onProgress: (@Sendable (WorkProgress) -> Void)? = nil
  ) async throws -> Int {
    let format = format ?? (path.lowercased().hasSuffix(".csv") ? .csv : .jsonLines)
    var reporting: (@Sendable (Int, Int?) -> Void)?
    if let onProgress {
      reporting = { done, total in onProgress(WorkProgress(completed: done, total: total)) }
    }
    let report = reporting
    return try await onThread { store, isCancelled throws -> Int in
      let control = RunControl(isCancelled: isCancelled, report: report)
      return try store.read { snapshot throws -> Int in
        let file = try NewFile(path, replaces: replacing)
        var export = try RecordExport(of: snapshot.entity(of: E.self), into: file, format)
        try snapshot.query(query).forEach(control: control) { record in
          try export.write(record)
          return true
        }
        try file.commit()
        return export.count
      }
    }
  }
}

/// The records of one entity on their way into a file.
private struct RecordExport {
  private let file: NewFile
  private let format: ExportFormat
  private let entity: DynamicEntity
  private let attributes: [EntityDescription.Attribute]
  /// `{"name":`, `,"version":` and so on, in front of the values.
  private var heads: [[UInt8]] = []
  private var text = RecordText()
  private var line: [UInt8] = []
  private(set) var count = 0

  init(of entity: DynamicEntity, into file: NewFile, _ format: ExportFormat) throws {
    self.entity = entity
    self.file = file
    self.format = format
    attributes = entity.description.declaredAttributes
    switch format {
    case .jsonLines:
      for attribute in attributes {
        var head: [UInt8] = [heads.isEmpty ? 0x7B : 0x2C]
        text.append(string: attribute.name, to: &head)
        heads.append(head + [0x3A])
      }
    case .csv:
      try file.write(Self.row(attributes.map(\.name)))
    }
  }

  private static func row(_ fields: [String?]) -> [UInt8] {
    Array((fields.map(RecordText.quoted).joined(separator: ",") + "\r\n").utf8)
  }

  mutating func write(_ record: DynamicRecord) throws {
    let reader = try record.reader(verifyingChecksum: true)
    do {
      switch format {
      case .jsonLines:
        line.removeAll(keepingCapacity: true)
        for (head, attribute) in zip(heads, attributes) {
          line += head
          try text.append(json: try reader.value(of: attribute), to: &line)
        }
        if attributes.isEmpty { line.append(0x7B) }
        line += [0x7D, 0x0A]
      case .csv:
        line = Self.row(try attributes.map { try RecordText.field(of: try reader.value(of: $0)) })
      }
    } catch let error as FormatError {
      throw StoreError(
        .damaged,
        message: "cannot export \(entity.name) \(record.id): \(error.reason); run 'kvdump verify'",
        cause: error, entity: entity.name, recordID: record.id)
    }
    try file.write(line)
    count += 1
  }
}
