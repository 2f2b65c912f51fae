import Testing

@testable import LMDB

/// Blocks for batches, which are kept for the next batch.
@Suite struct `Large memory` {
  private static let page = LargeMemory.pageSize

  private struct Block {
    var start: UnsafeMutableRawPointer
    var byteCount: Int
    var mark: UInt64

    /// Where something of each page lies, and the end.
    var places: [Int] { Array(stride(from: 0, to: byteCount - 8, by: 65_536)) + [byteCount - 8] }

    func fill() {
      for place in places {
        start.storeBytes(of: mark &+ UInt64(place), toByteOffset: place, as: UInt64.self)
      }
    }

    var isIntact: Bool {
      places.allSatisfy {
        start.loadUnaligned(fromByteOffset: $0, as: UInt64.self) == mark &+ UInt64($0)
      }
    }
  }

  /// Allocates, fills and gives back blocks of all sizes in any order.
  private func use(seed: UInt64) {
    var numbers = SeededGenerator(salt: seed)
    var blocks: [Block] = []
    for mark in 0..<400 as Range<UInt64> {
      if blocks.count > 12 || (!blocks.isEmpty && numbers.next() % 2 == 0) {
        let block = blocks.remove(at: Int(numbers.next() % UInt64(blocks.count)))
        #expect(block.isIntact)
        LargeMemory.deallocate(block.start, byteCount: block.byteCount)
      } else {
        let sizes = [
          8, 4_096, Self.page - 1, Self.page, Self.page + 1, 5 * Self.page, 9 * Self.page,
        ]
        let byteCount = sizes[Int(numbers.next() % 7)] + Int(numbers.next() % 3) * 4_096
        let start = LargeMemory.allocate(byteCount: byteCount)
        let block = Block(start: start, byteCount: byteCount, mark: mark << 32 ^ seed << 50)
        block.fill()
        blocks.append(block)
      }
    }
    for block in blocks {
      #expect(block.isIntact)
      LargeMemory.deallocate(block.start, byteCount: block.byteCount)
    }
  }

  @Test func `nobody writes into a block but who has it, on several threads`() async {
    await withTaskGroup { group in
      for seed in 1...4 as ClosedRange<UInt64> { group.addTask { use(seed: seed) } }
      group.addTask { for _ in 0..<200 { LargeMemory.releaseKept() } }
    }
  }

  #if os(Linux)
    @Test func `a block is given out again as it was`() {
      // Of a size that no other test uses.
      let byteCount = 61 * Self.page
      // Another test may release what is kept in between, or the system take it: not ten times.
      let isAgain = (0..<10 as Range<UInt64>).contains { mark in
        let first = LargeMemory.allocate(byteCount: byteCount)
        first.storeBytes(of: mark &+ 0xfeed_0000, as: UInt64.self)
        LargeMemory.deallocate(first, byteCount: byteCount)
        let next = LargeMemory.allocate(byteCount: byteCount)
        defer { LargeMemory.deallocate(next, byteCount: byteCount) }
        return next.load(as: UInt64.self) == mark &+ 0xfeed_0000
      }
      #expect(isAgain)
    }
  #endif
}
