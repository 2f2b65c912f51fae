import Foundation

/// Memory that the system has free.
///
/// In a virtual machine whose host takes free memory back, the first to use it again pays for it:
/// the copy of a commit into the page cache took three times as long, for whichever side came first.
enum FreeMemory {
  private static let byteCount = 768 << 20

  /// Has free memory given out and back, so that what is measured next finds it at hand.
  static func touch() {
    #if os(Linux)
      let flags = MAP_PRIVATE | MAP_ANONYMOUS | Int32(MAP_POPULATE)
      let memory = mmap(nil, byteCount, PROT_READ | PROT_WRITE, flags, -1, 0)
      if memory != MAP_FAILED { munmap(memory, byteCount) }
    #endif
  }
}
