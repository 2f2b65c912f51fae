/// Counts the uses of a memory for records, so that assertions notice a record of an earlier use.
///
/// A use creates a record in the memory or changes the records in it. The type is empty in release
/// builds.
@usableFromInline
struct MemoryUses {
  #if DEBUG
    fileprivate final class Count {
      var last = 0
    }

    private let count = Count()
  #endif

  init() {}

  /// One use of the memory, to which a record belongs.
  struct Use {
    #if DEBUG
      private let count: Count
      private let number: Int

      fileprivate init(_ count: Count) {
        self.count = count
        number = count.last
      }
    #endif

    /// Whether a later use has begun; always false in release builds.
    @inline(__always)
    var isOver: Bool {
      #if DEBUG
        number != count.last
      #else
        false
      #endif
    }
  }

  /// The last use that has begun.
  @inline(__always)
  var current: Use {
    #if DEBUG
      Use(count)
    #else
      Use()
    #endif
  }

  /// Begins the next use, so that records of the earlier ones are no longer valid.
  @inlinable @inline(__always)
  func beginNext() {
    #if DEBUG
      countNext()
    #endif
  }

  #if DEBUG
    @usableFromInline
    func countNext() { count.last += 1 }
  #endif
}
