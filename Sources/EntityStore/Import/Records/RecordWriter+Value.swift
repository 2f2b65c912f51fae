internal import LodestoreBytes
internal import LodestoreFormat

extension RecordWriter {
  /// Writes the next attribute of a record; the caller has checked that `value` fits it.
  ///
  /// Null is allowed only for an optional attribute.
  mutating func write(_ value: Value, as attribute: RecordLayout.Attribute) {
    if value == .null { return writeNull(attribute.type) }
    if attribute.isOptional { markPresent() }
    switch value {
    case .string(let text): text._write(to: &self)
    case .data(let bytes), .document(let bytes): bytes._withBytes { writeVariable($0) }
    default: writeSlot(value, as: attribute.type)
    }
  }
}
