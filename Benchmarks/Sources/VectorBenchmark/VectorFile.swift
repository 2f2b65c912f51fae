#if Vectors
  import BenchmarkFigures
  import EntityStore
  import Foundation

  /// The vectors of a file of NumPy, and more of them made of these.
  struct VectorFile {
    private let bytes: Data
    private let start: Int
    let dimensions: Int
    let rowCount: Int

    init(_ path: String) throws {
      bytes = try Data(contentsOf: URL(fileURLWithPath: path), options: .alwaysMapped)
      let refusal = BenchmarkError("\(path) has no rows of float32 in the order of C")
      guard bytes.count > 12, bytes.prefix(6) == Data([0x93] + "NUMPY".utf8) else { throw refusal }
      start =
        bytes[6] == 1
        ? 10 + Int(bytes[8]) + Int(bytes[9]) << 8 : 12 + Int(bytes[8]) + Int(bytes[9]) << 8
      let header = String(decoding: bytes[10..<start], as: UTF8.self)
      let shape =
        header.split(separator: "(").last?.split(separator: ")").first?
        .split { !$0.isNumber }.compactMap { Int($0) } ?? []
      guard header.contains("'<f4'"), header.contains("'fortran_order': False"), shape.count == 2,
        shape[1] > 0, bytes.count >= start + 4 * shape[0] * shape[1]
      else { throw refusal }
      (rowCount, dimensions) = (shape[0], shape[1])
    }

    /// Writes vectors around seeded centers to a file.
    static func write(_ count: Int, dimensions: Int, to path: String) throws {
      var random = SplitMix64(state: 1)
      func normal() -> Float {
        (0..<4).reduce(0) { sum, _ in sum + Float.random(in: -1...1, using: &random) }
      }
      let centers = (0..<1_000).map { _ in
        (0..<dimensions).map { normal() / Float($0 + 8).squareRoot() }
      }
      guard FileManager.default.createFile(atPath: path, contents: nil),
        let file = FileHandle(forWritingAtPath: path)
      else { throw BenchmarkError("\(path) cannot be written") }
      var header = "{'descr': '<f4', 'fortran_order': False, 'shape': (\(count), \(dimensions)), }"
      header += String(repeating: " ", count: 128 - 10 - header.count - 1) + "\n"
      file.write(Data([0x93] + "NUMPY".utf8 + [1, 0, 118, 0] + header.utf8))
      for first in stride(from: 0, to: count, by: 10_000) {
        var rows: [Float] = []
        for _ in first..<min(count, first + 10_000) {
          let (a, b) = (
            centers.randomElement(using: &random), centers.randomElement(using: &random)
          )
          for (index, (a, b)) in zip(a ?? [], b ?? []).enumerated() {
            rows.append(a + 0.5 * b + normal() * 0.4 / Float(index + 8).squareRoot())
          }
        }
        rows.withUnsafeBytes { file.write(Data($0)) }
      }
      try file.close()
    }

    private func row(_ index: Int) -> [Float] {
      bytes.withUnsafeBytes { bytes in
        (0..<dimensions).map {
          bytes.loadUnaligned(fromByteOffset: start + (index * dimensions + $0) * 4, as: Float.self)
        }
      }
    }

    /// The vector of a record; the last `queries` rows are those of no record.
    func record(_ index: Int, except queries: Int) -> Vector {
      let count = rowCount - queries
      let (copy, position) = index.quotientAndRemainder(dividingBy: count)
      if copy == 0 { return Vector(row(position)) }
      let other = row((position &* 7_919 &+ copy &* 104_729) % count)
      return Vector(zip(row(position), other).map { $0 + 0.5 * $1 })
    }

    func query(_ index: Int) -> Vector { Vector(row(rowCount - 1 - index)) }
  }

  struct SplitMix64: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var z = state
      z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
      z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
      return z ^ z >> 31
    }
  }
#endif
