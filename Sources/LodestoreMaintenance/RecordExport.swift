public import EntityStore
internal import LodestoreFormat

/// The format in which an export writes records.
public enum ExportFormat: String, Sendable, CaseIterable {
  /// One JSON object for each line, with the attributes in the order of the file. An import reads
  /// equal values from it.
  case jsonLines = "jsonl"
  /// Comma-separated values by RFC 4180 with a header row, for other programs. Null is an empty
  /// field, nested values are JSON, and bytes are Base64.
  case csv
}

extension Store {
  /// Exports the records that `query` finds to a file for other programs or for an import.
  ///
  ///     try await store.export(Pod.all.sorted(by: \.name), to: "pods.jsonl")
  ///
  /// All records are from one commit, even if the store is written meanwhile. The file has all
  /// attributes that the store has of the entity, including attributes that the program's type does
  /// not declare. The records' ids are omitted, because the importing store assigns its own. Each
  /// record's checksum is checked before the record is written. `kvdump export` writes the same
  /// file.
  ///
  /// The file appears when it is complete and on the disk. If the task is cancelled or the export
  /// fails, no file appears.
  ///
  /// - Parameters:
  ///   - query: The records and their order.
  ///   - path: The path of the file.
  ///   - format: The format; if `nil`, ``ExportFormat/csv`` for a path that ends in `.csv`,
  ///     otherwise ``ExportFormat/jsonLines``.
  ///   - replacing: Whether to replace an existing file. If false and a file exists, the call
  ///     throws.
  ///   - onProgress: Called on a thread of the store, at most a hundred times a second.
  /// - Returns: The number of records written.
  /// - Throws: `CancellationError` if the task is cancelled; `StoreError`:
  ///   `StoreError.Code.unsuitablePath` if a file exists, `StoreError.Code.damaged` for a record
  ///   that cannot be read, and the errors of a fetch.
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

/// The export of one entity's records into a file.
private struct RecordExport {
  private let file: NewFile
  private let format: ExportFormat
  private let entity: DynamicEntity
  private let attributes: [EntityDescription.Attribute]
  /// The text before each value: `{"name":`, `,"version":` and so on.
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
    case .csv: try file.write(Self.row(attributes.map(\.name)))
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
