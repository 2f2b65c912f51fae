/// A handle on a tree: LMDB's "named database", with one value per key.
///
/// Good for every transaction that begins after it was made, for as long as its environment is
/// open and the tree is not removed. Get it from ``WriteTransaction/tree(named:create:integerKeys:)``,
/// ``ReadTransaction/tree(named:)`` or ``Environment/tree(named:)``.
package struct Tree: Sendable, Equatable {
  let handle: UInt32
  let environmentNumber: UInt32
  /// Whether keys are 64-bit integers in the machine's byte order, or bytes.
  package let usesIntegerKeys: Bool

  /// Checks what the engine does not: it takes another environment's handle for its own, finds
  /// nothing under a key that is too long, and reads past keys that are not integers.
  @inline(__always)
  func check(
    _ keySize: Int, _ number: UInt32, _ operation: StaticString
  ) throws(LMDBError) {
    if keySize < 1 || keySize > Limits.keySizeInBytes || number != environmentNumber {
      throw keyFailure(keySize, number, operation)
    }
  }

  @inline(__always)
  func checkIntegerKeys(_ number: UInt32, _ operation: StaticString) throws(LMDBError) {
    if !usesIntegerKeys || number != environmentNumber {
      throw keyFailure(8, number, operation)
    }
  }

  func checkEnvironment(_ number: UInt32, _ operation: StaticString) throws(LMDBError) {
    if number != environmentNumber {
      throw LMDBError(.treeOfAnotherEnvironment, operation: operation)
    }
  }

  /// A key given as bytes for a tree of integers, put where the engine can read it aligned.
  func integer(
    from key: UnsafeRawBufferPointer, operation: StaticString
  ) throws(LMDBError) -> UInt64 {
    guard key.count == 8 else {
      throw LMDBError(.keyKind(treeUsesIntegerKeys: true), operation: operation)
    }
    return key.loadUnaligned(as: UInt64.self)
  }

  @inline(__always)
  static func checkValueSize(_ byteCount: Int, _ operation: StaticString) throws(LMDBError) {
    if byteCount > Limits.valueSizeInBytes || byteCount < 0 {
      throw LMDBError(
        .valueSize(byteCount: byteCount, limit: Limits.valueSizeInBytes), operation: operation)
    }
  }

  @inline(never)
  private func keyFailure(
    _ keySize: Int, _ number: UInt32, _ operation: StaticString
  ) -> LMDBError {
    if number != environmentNumber {
      return LMDBError(.treeOfAnotherEnvironment, operation: operation)
    }
    if keySize < 1 || keySize > Limits.keySizeInBytes {
      return LMDBError(
        .keySize(byteCount: keySize, limit: Limits.keySizeInBytes), operation: operation)
    }
    return LMDBError(.keyKind(treeUsesIntegerKeys: usesIntegerKeys), operation: operation)
  }
}

/// The shape of a tree.
package struct TreeStatistics: Sendable, Equatable {
  package let entryCount: Int
  package let depth: Int
  package let branchPageCount: Int
  package let leafPageCount: Int
  package let overflowPageCount: Int
}
