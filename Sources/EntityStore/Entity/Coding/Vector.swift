internal import LodestoreBytes
internal import LodestoreFormat

/// A list of numbers, such as the embedding of a text.
///
/// An attribute of this type is stored as data: four bytes for each number, in little-endian order.
/// See <doc:Vectors>.
public struct Vector: Sendable, Hashable, Codable, ExpressibleByArrayLiteral {
  /// The numbers, one for each dimension.
  public var values: [Float]

  /// Makes a vector of any number of dimensions; a vector index takes those of one number.
  public init(_ values: [Float]) { self.values = values }

  /// Makes a vector of the numbers of a literal.
  public init(arrayLiteral elements: Float...) { values = elements }

  /// The distance to another vector, by which conditions and orders compare records.
  ///
  /// - Returns: `nil` if the vectors have different numbers of dimensions, or if a vector of zeros
  ///   is compared by cosine.
  public func distance(to other: Vector, by measure: VectorMeasure) -> Double? {
    guard values.count == other.values.count else { return nil }
    var (product, square, otherSquare) = (0.0, 0.0, 0.0)
    for (a, b) in zip(values, other.values) {
      let (a, b) = (Double(a), Double(b))
      if measure == .euclidean {
        square += (a - b) * (a - b)
      } else {
        product += a * b
        square += a * a
        otherSquare += b * b
      }
    }
    switch measure {
    case .euclidean: return square.squareRoot()
    case .dotProduct: return -product
    case .cosine:
      let length = square.squareRoot() * otherSquare.squareRoot()
      return length == 0 ? nil : 1 - product / length
    }
  }
}

/// The way in which the distance of two vectors is measured.
public enum VectorMeasure: String, Sendable, Hashable, CaseIterable {
  /// 1 less the cosine of the angle between the vectors, from 0 to 2.
  ///
  /// A vector of zeros has no angle, and is never found.
  case cosine
  /// The dot product with the other sign, so that the highest products are nearest.
  case dotProduct
  /// The length of the difference of the vectors.
  case euclidean
}

extension Vector: IndexableValue {
  /// Stored as data.
  public static var _storage: AttributeStorage { AttributeStorage(type: .data) }

  /// The bytes of the numbers.
  public var _storedValue: StoredValue { StoredValue(.data(bytes)) }

  /// The numbers; `nil` for data with a part of a number.
  public static func _value(from stored: StoredValue) -> Vector? {
    guard case .data(let bytes) = stored.value else { return nil }
    return bytes._withBytes { Vector(bytes: $0) }
  }

  /// Writes the numbers.
  public func _write(to writer: inout RecordWriter) {
    bytes._withBytes { writer.writeVariable($0) }
  }

  /// Reads the numbers; throws for data with a part of a number.
  public static func _read(from reader: inout RecordReader) throws(StoreError) -> Vector {
    guard let vector = Vector(bytes: reader.readVariable()) else {
      throw reader.undecodable(.data, "its bytes are not numbers of four bytes")
    }
    return vector
  }

  init?(bytes: ByteView) {
    guard bytes.count % 4 == 0 else { return nil }
    values = (0..<bytes.count / 4).map { Float(bitPattern: bytes.uint32(at: 4 * $0)) }
  }

  var bytes: [UInt8] {
    [UInt8](unsafeUninitializedCapacity: 4 * values.count) { bytes, count in
      for value in values {
        let bits = value.bitPattern
        for shift in 0..<4 { bytes[count + shift] = UInt8(truncatingIfNeeded: bits >> (8 * shift)) }
        count += 4
      }
    }
  }
}
