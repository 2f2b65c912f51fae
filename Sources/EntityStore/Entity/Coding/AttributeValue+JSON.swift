internal import LodestoreBytes
internal import LodestoreFormat

extension JSONValue: AttributeValue {
  /// Stored as a document that holds only types that JSON has.
  public static var _storage: AttributeStorage { AttributeStorage(type: .json) }

  /// The value as a document; null when it is nested deeper than 128 levels.
  public var _storedValue: StoredValue {
    var document = DocumentWriter()
    do { try write(to: &document) } catch { return .null }
    return StoredValue(.document(document.bytes))
  }

  /// The value in the document.
  public static func _value(from stored: StoredValue) -> JSONValue? {
    if case .document(let bytes) = stored.value {
      return bytes._withBytes { try? JSONValue(document: $0) }
    }
    return JSONValue(scalar: stored.value)
  }

  /// Writes the document; the insert or update fails when the value is nested deeper than 128
  /// levels.
  public func _write(to writer: inout RecordWriter) {
    writer.writeDocument { (document) throws(DocumentNestingError) in try write(to: &document) }
  }

  /// Reads the document; throws when it holds a type that JSON does not have.
  public static func _read(from reader: inout RecordReader) throws(StoreError) -> JSONValue {
    do { return try JSONValue(document: reader.readVariable()) } catch {
      throw reader.undecodable(.json, "its JSON does not decode: \(error.reason)", cause: error)
    }
  }
}

extension JSONValue {
  /// Creates the JSON of a scalar that JSON has; returns `nil` for other values.
  init?(scalar value: LodestoreFormat.Value) {
    switch value {
    case .null: self = .null
    case .bool(let flag): self = .bool(flag)
    case .integer(let number): self = .integer(number)
    case .unsigned(let number): self = .unsigned(number)
    case .double(let number): self = .double(number)
    case .string(let text): self = .string(text)
    default: return nil
    }
  }
}
