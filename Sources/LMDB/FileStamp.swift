import LodestoreSystem

/// The state in which the processes of this machine left a data file, stored in the last bytes of
/// its lock file.
///
/// Format.md describes its layout in the section "The file". A file that was copied, restored or
/// written by another program does not match its stamp, and its pages are checked before use.
struct FileStamp: Equatable {
  enum State: UInt8 {
    /// A process has the file open, or ended without closing it.
    case inUse = 1
    /// The last process closed it.
    case closed = 2
  }

  var state: State
  var boot: UInt64
  var identity: StoreFile.Identity
  var transaction: UInt64
  var modified: Int64

  static let size = 56
  private static let mark = Array("LDSTMP1".utf8)

  // MARK: Bytes
}

extension FileStamp {
  init?(_ bytes: [UInt8]) {
    guard bytes.count == Self.size, bytes.starts(with: Self.mark),
      let state = State(rawValue: bytes[Self.mark.count])
    else { return nil }
    let words = stride(from: 8, to: Self.size, by: 8).map { offset in
      bytes[offset..<(offset + 8)].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    }
    self.init(
      state: state, boot: words[1], identity: StoreFile.Identity(device: words[2], inode: words[3]),
      transaction: words[4], modified: Int64(truncatingIfNeeded: words[5]))
    guard checksum == words[0] else { return nil }
  }

  var bytes: [UInt8] {
    let words = [checksum] + words
    return Self.mark + [state.rawValue]
      + words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }
  }

  private var words: [UInt64] {
    [boot, identity.device, identity.inode, transaction, UInt64(bitPattern: modified)]
  }

  private var checksum: UInt64 {
    Self.hash(
      [state.rawValue]
        + words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } })
  }

  /// The 64-bit FNV-1a hash.
  static func hash(_ bytes: some Sequence<UInt8>) -> UInt64 {
    bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }

  // MARK: The place in the lock file

  /// The offset of the stamp in a lock file of `size` bytes, and whether the file already has room
  /// for it; `nil` for a size that LMDB does not create.
  static func offset(inFileOf size: Int) -> (offset: Int, isThere: Bool)? {
    let rest = size - LockFileLayout.size(readerCount: 0)
    guard rest > 0 else { return nil }
    switch rest % LockFileLayout.slotSize {
    case 0: return (size, false)
    case Self.size: return (size - Self.size, true)
    default: return nil
    }
  }

  // MARK: The boot

  /// A number that changes with each start of the machine; 0 if the system does not provide such a
  /// number.
  static let currentBoot: UInt64 = {
    #if canImport(Darwin)
      var size = 0
      guard sysctlbyname("kern.bootsessionuuid", nil, &size, nil, 0) == 0, size > 0 else {
        return 0
      }
      var text = [UInt8](repeating: 0, count: size)
      guard sysctlbyname("kern.bootsessionuuid", &text, &size, nil, 0) == 0 else { return 0 }
      return hash(text)
    #else
      return StoreFile.systemText("/proc/sys/kernel/random/boot_id").map(hash) ?? 0
    #endif
  }()
}
