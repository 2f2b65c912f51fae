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
    switch stored.value {
    case .document(let bytes): bytes._withBytes { try? JSONValue(document: $0) }
    case .null: .null
    case .bool(let flag): .bool(flag)
    case .integer(let number): .integer(number)
    case .unsigned(let number): .unsigned(number)
    case .double(let number): .double(number)
    case .string(let text): .string(text)
    default: nil
    }
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
