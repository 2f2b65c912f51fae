import LodestoreBytes

/// The vector of a record in a vector index.
///
/// See Format.md, "Vector indexes".
package enum IndexedVector: Sendable, Equatable {
  /// The attribute is null.
  case none
  /// The value is no vector of the index.
  ///
  /// The text is the requirement that the value does not meet.
  case invalid(String)
  case vector([Float])

  package init(_ bytes: ByteView, dimensions: Int) {
    guard bytes.count == 4 * dimensions else {
      self = .invalid("be a vector of \(dimensions) dimensions")
      return
    }
    let vector = [Float](unsafeUninitializedCapacity: dimensions) { numbers, count in
      for index in 0..<dimensions {
        numbers[index] = Float(bitPattern: bytes.uint32(at: 4 * index))
      }
      count = dimensions
    }
    // The sum of finite squares is finite in doubles, and not a number or infinite otherwise.
    self =
      VectorEncoder.norm(vector).isFinite
      ? .vector(vector) : .invalid("be a vector of finite numbers with a finite norm")
  }

  /// Reads the vector of a record.
  package init(
    of index: EntityDescription.ComputedIndex, in view: RecordView, _ entity: EntityDescription
  ) {
    if let position = view.layout.slotIndex(ofAttribute: index.attribute) {
      let slot = view.layout.slots[position]
      self =
        view.isNull(slot)
        ? .none : IndexedVector(view.variableBytes(slot), dimensions: index.dimensions)
    } else if case .data(let bytes) = entity.attribute(number: index.attribute)?.initial {
      self = bytes._withBytes { IndexedVector($0, dimensions: index.dimensions) }
    } else {
      self = .none
    }
  }

  package var vector: [Float]? { if case .vector(let vector) = self { vector } else { nil } }
}
