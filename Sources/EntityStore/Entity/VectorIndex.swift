/// An index on vectors, which finds the records whose vectors are nearest to another.
///
///     static let vectorIndexes = [VectorIndex<Note>(\.embedding, dimensions: 384)]
///
/// Records whose vector is `nil` are not in the index. A write of a vector with another number of
/// dimensions, or with numbers that are not finite, throws ``StoreError/Code/invalidValue``. The
/// index is kept in the same transaction as the records, by each program that writes the file. See
/// <doc:Vectors>.
public struct VectorIndex<E: Entity>: Sendable {
  let attribute: any PartialKeyPath<E> & Sendable
  let dimensions: Int

  /// Declares an index.
  ///
  /// - Parameters:
  ///   - attribute: a ``Vector``, or `Data` with numbers of four bytes in little-endian order.
  ///     Records from before the declaration with other values are left out.
  ///   - dimensions: the number of numbers of each vector, from 1 to 8,192.
  public init<Value>(_ attribute: any KeyPath<E, Value> & Sendable, dimensions: Int) {
    self.attribute = attribute
    self.dimensions = dimensions
  }
}
