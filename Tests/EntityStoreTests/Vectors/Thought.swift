import EntityStore

/// A record with vectors of two numbers of dimensions.
struct Thought: Entity, Equatable {
  static let dimensions = 130

  var id = RecordID<Thought>()
  var group = 0
  var embedding: Vector?
  var color: Vector?

  struct Attributes: Sendable {
    var id: Attribute<Thought, Thought.ID> { .recordID }
    var group: Attribute<Thought, Int> { .init(0) }
    var embedding: Attribute<Thought, Vector?> { .init(1) }
    var color: Attribute<Thought, Vector?> { .init(2) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Thought>(
    "Thought",
    attributes: [
      .init("group", \.group), .init("embedding", \.embedding), .init("color", \.color),
    ],
    indexes: [[\.group]],
    vectorIndexes: [
      VectorIndex(\.embedding, dimensions: dimensions), VectorIndex(\.color, dimensions: 3),
    ])

  init(_ embedding: Vector?, group: Int = 0, color: Vector? = nil) {
    self.group = group
    self.embedding = embedding
    self.color = color
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    group = try reader.read()
    embedding = try reader.read()
    color = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(group)
    writer.write(embedding)
    writer.write(color)
  }
}

/// ``Thought`` in a program from before the vector indexes.
struct PlainThought: Entity {
  var id = RecordID<PlainThought>()
  var group = 0
  var embedding: Vector?
  var color: Vector?

  static let attributes: Void = ()

  static let schema = EntitySchema<PlainThought>(
    "Thought",
    attributes: [
      .init("group", \.group), .init("embedding", \.embedding), .init("color", \.color),
    ],
    indexes: [[\.group]])

  init(_ embedding: Vector?) { self.embedding = embedding }

  init(from reader: inout RecordReader) throws(StoreError) {
    group = try reader.read()
    embedding = try reader.read()
    color = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(group)
    writer.write(embedding)
    writer.write(color)
  }
}

extension Thought {
  static func random(_ random: inout SeededNumbers) -> Thought {
    Thought(
      Int.random(in: 0..<10, using: &random) > 0 ? Vector.random(&random, dimensions) : nil,
      group: Int.random(in: 0..<5, using: &random),
      color: Bool.random(using: &random) ? Vector.random(&random, 3) : nil)
  }

  /// A vector to which others are sought.
  ///
  /// A short vector has about one distance from all vectors of zeros and tiny ones, so this one is
  /// long.
  static func sought(_ random: inout SeededNumbers) -> Vector {
    while true {
      let vector = Vector.random(&random, dimensions)
      if vector.values.reduce(0, { $0 + $1 * $1 }) > 8 { return vector }
    }
  }
}

extension Vector {
  /// A vector around one of twenty, or one of zeros, or one that is equal to others.
  static func random(_ random: inout SeededNumbers, _ dimensions: Int) -> Vector {
    var center = SeededNumbers(salt: UInt64.random(in: 100..<120, using: &random))
    let kind = Int.random(in: 0..<20, using: &random)
    let spread: Float = kind < 2 ? 0 : 0.3
    let length: Float =
      kind == 2 ? 0 : kind == 3 ? 1e-20 : Float.random(in: 0.5...3, using: &random)
    return Vector(
      (0..<dimensions).map { index in
        // The variances of the components differ.
        let scale = 1 / Float(index + 1).squareRoot()
        let noise = Float.random(in: -1...1, using: &random) * spread
        return (Float.random(in: -1...1, using: &center) + noise) * scale * length
      })
  }
}

extension [Thought] {
  /// The ids of those with a vector, by a comparison of all vectors.
  func sorted(
    _ path: KeyPath<Thought, Vector?>, _ query: Vector, _ measure: VectorMeasure
  ) -> [Thought.ID] {
    compactMap { note in
      note[keyPath: path]?.distance(to: query, by: measure).map { ($0, note.id) }
    }
    .sorted { ($0.0, $0.1.rawValue) < ($1.0, $1.1.rawValue) }.map(\.1)
  }
}
