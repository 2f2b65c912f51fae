import EntityStore

/// The runs of the library throw its own errors only; a closed pipe or a full disk is none of them.
extension PlanRun {
  /// Visits the results in order, until `body` returns false; what `body` throws comes out as it is.
  func visit(_ body: (UInt64, UnsafeRawBufferPointer) throws -> Bool) throws {
    var failure: (any Error)?
    do {
      try forEach { id, bytes in
        do {
          return try body(id, bytes)
        } catch {
          failure = error
          throw error
        }
      }
    } catch {
      throw failure ?? error
    }
  }

  /// Visits one page of results and returns the token of the next; otherwise as ``visit(_:)``.
  func visitPage(
    _ body: (UInt64, UnsafeRawBufferPointer) throws -> Void
  ) throws -> ContinuationToken? {
    var failure: (any Error)?
    do {
      return try forEachOfPage { id, bytes in
        do {
          try body(id, bytes)
        } catch {
          failure = error
          throw error
        }
      }
    } catch {
      throw failure ?? error
    }
  }
}
