internal import LodestoreBytes
internal import LodestoreFormat

/// `Codable` values as documents, and back.
///
/// See Format.md, "Documents".
///
/// Equal values have equal bytes, whatever the order in which a dictionary gives out its members.
/// That does not hold for what `Codable` itself writes as an array in no order: a `Set`, and a
/// dictionary whose keys are neither strings nor integers nor `CodingKeyRepresentable`.
enum DocumentCoding {
  /// Values that may be encoded or decoded within one another.
  ///
  /// More than nesting allows, because a value that is its own single value nests without an
  /// array or object; limited, because each takes stack.
  static let deepestCall = 4 * Document.deepestNesting

  /// Writes `value` as the next value of `writer`, which is left as it was when this throws.
  ///
  /// - Throws: `EncodingError` for a value that a document cannot hold, or what the value throws.
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

  /// Reads the whole of `bytes` as one value, which owns all it holds.
  ///
  /// Never leaves the bytes and never traps, whatever they are.
  ///
  /// - Throws: `DecodingError` for bytes that are no such value, or what the type throws.
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
    // A decoder that a type has kept must not reach bytes that are gone.
    defer { decoding.end() }
    return try decoding.root(type)
  }
}

/// A value that would nest deeper than documents may.
struct DocumentNestingError: Error, CustomStringConvertible {
  var description: String {
    "cannot store the value: nested deeper than \(Document.deepestNesting) levels; flatten it"
  }

  func context(_ path: [any CodingKey]) -> EncodingError.Context {
    EncodingError.Context(codingPath: path, debugDescription: description, underlyingError: self)
  }
}
