import Foundation
import LodestoreBytes
import LodestoreFormat
import LodestoreJSON

/// Makes documents from an input that is the document itself or JSON.
///
/// Text is easier to change into other sound documents.
///
/// In JSON a text that begins with `data:` stands for bytes in hexadecimal digits, and one with
/// `date:` for a date by its number.
enum DocumentInput {
  static func document(_ bytes: ByteView) throws -> Document {
    if let first = bytes.first, first == UInt8(ascii: "{") || first == UInt8(ascii: "[") {
      return document(try JSONValue(parsing: Array(bytes)))
    }
    return try Document(decoding: bytes)
  }

  private static func document(_ value: JSONValue) -> Document {
    // The parser takes as many levels as a document may have.
    switch value {
    case .null: return .null
    case .bool(let flag): return .bool(flag)
    case .integer(let number): return .integer(number)
    case .unsigned(let number): return .unsigned(number)
    case .double(let number): return .double(number)
    case .string(let text): return special(text) ?? .string(text)
    case .array(let elements): return .array(elements.map { document($0) })
    case .object(let members):
      return .object(members.mapValues { document($0) })
    }
  }

  private static func special(_ text: String) -> Document? {
    if text.hasPrefix("date:") { return Double(text.dropFirst(5)).map { .date($0) } }
    guard text.hasPrefix("data:") else { return nil }
    let digits = Array(text.utf8.dropFirst(5))
    guard digits.count.isMultiple(of: 2) else { return nil }
    return .data(
      stride(from: 0, to: digits.count, by: 2).compactMap {
        UInt8(String(decoding: digits[$0..<($0 + 2)], as: UTF8.self), radix: 16)
      })
  }

  /// Requires that a document which is read and written is read again as the same.
  ///
  /// `read` reads the document and returns the written one.
  static func requireStable(
    _ document: Document, _ read: (Document) throws -> Document
  ) throws {
    let written = try read(document)
    let bytes = written.encoded()
    do {
      let decoded = try bytes._withBytes { try Document(decoding: $0) }
      let again = try read(decoded).encoded()
      require(again == bytes, "\(document) is written as \(written), and then in another way")
    } catch {
      require(false, "\(document) is written as \(written), which is refused: \(error)")
    }
  }
}
