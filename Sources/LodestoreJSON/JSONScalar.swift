/// A scalar type that decodes from its entry alone, without a container.
protocol JSONScalar: Decodable {
  static func decoded(_ run: JSONDecoding, _ index: Int) throws -> Self
}

extension JSONScalar where Self: FixedWidthInteger {
  @inline(__always)
  static func decoded(_ run: JSONDecoding, _ index: Int) throws -> Self {
    try run.integer(Self.self, index)
  }
}

extension Int: JSONScalar {}
extension Int8: JSONScalar {}
extension Int16: JSONScalar {}
extension Int32: JSONScalar {}
extension Int64: JSONScalar {}
extension UInt: JSONScalar {}
extension UInt8: JSONScalar {}
extension UInt16: JSONScalar {}
extension UInt32: JSONScalar {}
extension UInt64: JSONScalar {}

extension Bool: JSONScalar {
  @inline(__always)
  static func decoded(_ run: JSONDecoding, _ index: Int) throws -> Bool { try run.bool(index) }
}

extension String: JSONScalar {
  @inline(__always)
  static func decoded(_ run: JSONDecoding, _ index: Int) throws -> String { try run.string(index) }
}

extension Double: JSONScalar {
  @inline(__always)
  static func decoded(_ run: JSONDecoding, _ index: Int) throws -> Double { try run.double(index) }
}

extension Float: JSONScalar {
  @inline(__always)
  static func decoded(_ run: JSONDecoding, _ index: Int) throws -> Float { try run.float(index) }
}
