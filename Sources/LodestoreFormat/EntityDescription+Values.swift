// Attribute values within the catalogue's documents, for reading and writing.

import LodestoreBytes

extension EntityDescription {
  package static func document(of value: Value) -> Document {
    switch value {
    case .null: .null
    case .bool(let flag): .bool(flag)
    case .integer(let number): .integer(number)
    case .unsigned(let number): .unsigned(number)
    case .double(let number): .double(number)
    case .date(let seconds): .date(seconds)
    case .uuid(let uuid): .uuid(uuid)
    case .decimal(let decimal): .decimal(decimal)
    case .string(let text): .string(text)
    case .data(let bytes): .data(bytes)
    case .document(let bytes):
      (try? bytes._withBytes { raw in try Document(decoding: raw) }) ?? .null
    }
  }

  package static func value(of document: Document, for type: AttributeType) -> Value {
    if type == .json || type == .document { return .document(document.encoded()) }
    switch document {
    case .bool(let flag): return .bool(flag)
    case .integer(let number): return .integer(number)
    case .unsigned(let number): return .unsigned(number)
    case .double(let number): return .double(number)
    case .date(let seconds): return .date(seconds)
    case .uuid(let uuid): return .uuid(uuid)
    case .decimal(let decimal): return .decimal(decimal)
    case .string(let text): return .string(text)
    case .data(let bytes): return .data(bytes)
    case .null, .array, .object: return .null
    }
  }
}
