import LodestoreBytes

/// Makes the codes of vectors of one number of dimensions.
///
/// See Format.md, "Codes of vectors". Every step is one of doubles that is rounded to the nearest,
/// so any program makes the same codes.
package struct VectorEncoder: Sendable {
  /// The number of rounds of a rotation.
  private static let rounds = 4

  package let dimensions: Int
  /// The number of components of a rotated vector, a multiple of 64.
  package let width: Int
  /// The highest power of two that is at most ``width``.
  private let span: Int
  private let factor: Double
  /// The signs of the rounds, each 1 or -1.
  private let signs: [Double]

  package init(dimensions: Int) {
    self.dimensions = dimensions
    width = VectorForm(dimensions: dimensions).width
    span = 1 << (Int.bitWidth - 1 - width.leadingZeroBitCount)
    factor = 1 / Double(span).squareRoot()
    signs = (0..<UInt64(Self.rounds * width / 64)).flatMap { number in
      let word = Self.word(number)
      return (0..<64 as Range<UInt64>).map { word >> $0 & 1 == 1 ? -1.0 : 1.0 }
    }
  }

  /// The word of a number in the sequence SplitMix64 that begins with the state 0.
  private static func word(_ number: UInt64) -> UInt64 {
    var z = (number &+ 1) &* 0x9E37_79B9_7F4A_7C15
    z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
    return z ^ z >> 31
  }

  /// The Euclidean length of a vector.
  package static func norm(_ vector: [Float]) -> Float {
    Float(vector.reduce(0.0) { $0 + Double($1) * Double($1) }.squareRoot())
  }

  /// Returns a vector in rotated axes, with ``width`` components.
  package func rotated(_ vector: [Float]) -> [Double] {
    [Double](unsafeUninitializedCapacity: width) { numbers, count in
      numbers.initialize(repeating: 0)
      for (index, number) in vector.prefix(width).enumerated() { numbers[index] = Double(number) }
      for round in 0..<Self.rounds {
        for index in 0..<width { numbers[index] *= signs[round &* width &+ index] }
        let first = round & 1 == 0 ? 0 : width - span
        // The fast Walsh–Hadamard transform.
        var half = 1
        while half < span {
          var start = first
          while start < first &+ span {
            for index in start..<start &+ half {
              let (a, b) = (numbers[index], numbers[index &+ half])
              numbers[index] = a + b
              numbers[index &+ half] = a - b
            }
            start &+= 2 &* half
          }
          half &*= 2
        }
        for index in first..<first + span { numbers[index] *= factor }
      }
      count = width
    }
  }

  package func code(of vector: [Float]) -> VectorCode {
    let rotated = rotated(vector)
    var code = VectorCode(norm: Self.norm(vector), scale: 0, bytes: [])
    code.bytes = [UInt8](unsafeUninitializedCapacity: width / 8 + width) { bytes, count in
      var largest = 0.0
      for start in stride(from: 0, to: width, by: 8) {
        var byte: UInt8 = 0
        for bit in 0..<8 {
          let number = rotated[start + bit]
          if number >= 0 { byte |= 1 << UInt8(bit) }
          largest = max(largest, abs(number))
        }
        bytes[start / 8] = byte
      }
      code.scale = Float(largest / 127)
      let scale = Double(code.scale)
      for index in 0..<width {
        let level = scale == 0 ? 0 : (rotated[index] / scale + 0.5).rounded(.down)
        bytes[width / 8 + index] = UInt8(bitPattern: Int8(min(max(level, -127), 127)))
      }
      count = width / 8 + width
    }
    return code
  }
}

/// The codes of one vector.
package struct VectorCode: Sendable, Equatable {
  package var norm: Float
  /// The factor of the levels.
  package var scale: Float
  /// The signs, followed by the levels.
  package var bytes: [UInt8]
}
