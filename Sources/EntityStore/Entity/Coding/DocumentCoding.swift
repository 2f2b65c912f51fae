internal import LodestoreBytes
internal import LodestoreFormat

/// Conversion of `Codable` values to documents and back.
///
/// See Format.md, "Documents".
///
/// Equal values have equal bytes, whatever the order in which a dictionary returns its members.
/// The exceptions are values that `Codable` itself writes as an unordered array. Such a value is a
/// `Set`, or a dictionary whose keys are neither strings nor integers nor
/// `CodingKeyRepresentable`.
enum DocumentCoding {
  /// The maximum number of nested calls to encode or decode a value.
  ///
  /// The number is higher than the limit on nesting, because a single value container nests a call
  /// without an array or object. There is a limit because each call takes stack.
  static let deepestCall = 4 * Document.deepestNesting

  /// Writes `value` as the next value of `writer`, which stays unchanged when this throws.
  ///
  /// - Throws: `EncodingError` for a value that a document cannot hold, or an error of the value
  ///   itself.
  static func encode(_ value: some Encodable, into writer: inout DocumentWriter) throws {
    let start = writer.count
    do {
      if try DocumentDirect.write(value, to: &writer, nesting: 0) { return }
    } catch {
      writer.truncate(to: start)
      throw EncodingError.invalidValue(value, error.context([]))
    }
    let encoding = DocumentEncoding(path: [], nesting: 0, calls: 0)
    swap(&encoding.writer, &writer)
    defer { swap(&encoding.writer, &writer) }
    do {
      try encoding.encodeRoot(value)
    } catch {
      encoding.abandon(to: start)
      throw error
    }
  }

  /// Decodes all of `bytes` as one value, which owns its memory.
  ///
  /// Reads within the bytes only, and never traps, whatever they contain.
  ///
  /// - Throws: `DecodingError` for bytes that do not hold such a value, or an error of the type
  ///   itself.
  static func decode<T: Decodable>(_ type: T.Type, from bytes: ByteView) throws -> T {
    var reader = DocumentReader(bytes)
    let known: T?
    do {
      known = try DocumentDirect.read(type, from: &reader, nesting: 0)
    } catch {
      throw DocumentDecoding(bytes).decodingError(error, within: 0)
    }
    if let known {
      guard reader.isAtEnd else { throw DocumentDecoding(bytes).trailingBytes(reader.offset) }
      return known
    }
    let decoding = DocumentDecoding(bytes)
    // A type's `init(from:)` may have stored the decoder. After this call the stored decoder throws
    // and does not access freed bytes.
    defer { decoding.end() }
    return try decoding.root(type)
  }
}

/// The error for a value that is nested deeper than a document may be.
struct DocumentNestingError: Error, CustomStringConvertible {
  var description: String {
    "cannot store the value: nested deeper than \(Document.deepestNesting) levels; flatten it"
  }

  func context(_ path: [any CodingKey]) -> EncodingError.Context {
    EncodingError.Context(codingPath: path, debugDescription: description, underlyingError: self)
  }
}
