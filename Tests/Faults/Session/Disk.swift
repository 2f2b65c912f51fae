/// The possible contents of a disk after a power cut at one position of a log.
///
/// Everything that was synced is on the disk. Of later changes any part may be there: each block or
/// sector of a write, a file's length, a change of a name.
struct Disk {
  /// A write of which an unknown part is on the disk.
  private struct Pending {
    var offset: Int
    var payload: Range<Int>
    /// The new size, for a truncation.
    var size: Int?
    var isDurable = false
    /// Whether a sync of the write has failed.
    ///
    /// The system then regards the write as written, so no later sync writes it.
    var isForgotten = false
  }

  private struct File {
    var durable: [UInt8] = []
    var pending: [Pending] = []

    mutating func sync() {
      for index in pending.indices where !pending[index].isForgotten {
        pending[index].isDurable = true
      }
    }

    mutating func forget() {
      for index in pending.indices where !pending[index].isDurable {
        pending[index].isForgotten = true
      }
    }
  }

  private struct NameChange {
    var added: String?
    var removed: String?
    var file: Int
  }

  /// The way in which changes that were not synced are lost.
  enum Loss: CaseIterable {
    case blocks, sectors, prefix, oneBlock, everything, nothing
  }

  private let log: WriteLog
  private var files: [Int: File] = [:]
  private var names: [String: Int] = [:]
  private var nameChanges: [NameChange] = []
  private(set) var position = 0

  init(_ log: WriteLog) { self.log = log }

  // MARK: Going on

  mutating func advance(to cut: Int) {
    while position < cut {
      take(log.operations[position])
      position += 1
    }
  }

  private mutating func take(_ operation: WriteLog.Operation) {
    let file = operation.file
    switch operation.kind {
    case .marked: break
    case .written:
      files[file]?.pending.append(Pending(offset: operation.number, payload: operation.payload))
    case .writtenDurably:
      files[file]?.pending.append(
        Pending(offset: operation.number, payload: operation.payload, isDurable: true))
    case .truncated:
      files[file]?.pending.append(Pending(offset: 0, payload: 0..<0, size: operation.number))
    case .synced:
      files[file]?.sync()
      settle(file)
    case .failedToSync: files[file]?.forget()
    case .failedToWrite:
      files[file]?.pending.append(
        Pending(offset: operation.number, payload: operation.payload, isForgotten: true))
    case .created:
      files[file] = File()
      nameChanges.append(NameChange(added: log.text(operation.payload), file: file))
    case .linked: nameChanges.append(NameChange(added: log.text(operation.payload), file: file))
    case .renamed:
      let both = log.names(operation)
      nameChanges.append(NameChange(added: both.last, removed: both.first, file: file))
    case .unlinked: nameChanges.append(NameChange(removed: log.text(operation.payload), file: file))
    case .syncedFolder:
      for change in nameChanges { Self.apply(change, to: &names) }
      nameChanges = []
    }
  }

  /// Applies the durable writes to the file, up to the first write that is not durable.
  private mutating func settle(_ number: Int) {
    guard var file = files[number] else { return }
    let end = file.pending.firstIndex { !$0.isDurable } ?? file.pending.count
    for write in file.pending[..<end] { apply(write, to: &file.durable) }
    file.pending.removeFirst(end)
    files[number] = file
  }

  private static func apply(_ change: NameChange, to names: inout [String: Int]) {
    if let name = change.removed { names[name] = nil }
    if let name = change.added, change.file != 0 { names[name] = change.file }
  }

  private func apply(_ write: Pending, to bytes: inout [UInt8]) {
    if let size = write.size {
      resize(&bytes, to: size)
    } else {
      put(write.payload, at: write.offset, into: &bytes)
    }
  }

  private func resize(_ bytes: inout [UInt8], to size: Int) {
    if bytes.count > size { bytes.removeLast(bytes.count - size) }
    if bytes.count < size { bytes.append(contentsOf: repeatElement(0, count: size - bytes.count)) }
  }

  private func put(_ range: Range<Int>, at offset: Int, into bytes: inout [UInt8]) {
    if bytes.count < offset + range.count { resize(&bytes, to: offset + range.count) }
    bytes.withUnsafeMutableBytes { target in
      log.bytes.withUnsafeBytes { source in
        UnsafeMutableRawBufferPointer(rebasing: target[offset..<(offset + range.count)])
          .copyMemory(from: UnsafeRawBufferPointer(rebasing: source[range]))
      }
    }
  }

  // MARK: The cut

  /// The possible content of the disk after the power cut: the files by name.
  func image(_ loss: Loss, _ random: inout SessionRandom) -> [String: [UInt8]] {
    var found = names
    let isPrefix = Bool.random(using: &random)
    let count = Int.random(in: 0...nameChanges.count, using: &random)
    for (index, change) in nameChanges.enumerated() {
      let isThere = isPrefix ? index < count : Bool.random(using: &random)
      if isThere { Self.apply(change, to: &found) }
    }
    var image: [String: [UInt8]] = [:]
    for (name, file) in found.sorted(by: { $0.key < $1.key }) {
      if let file = files[file] { image[name] = bytes(of: file, loss, &random) }
    }
    return image
  }

  private func bytes(of file: File, _ loss: Loss, _ random: inout SessionRandom) -> [UInt8] {
    var bytes = file.durable
    var pending = file.pending
    // The last write may have been interrupted, even if it was to be durable at its end.
    if position > 0, log.operations[position - 1].kind == .writtenDurably,
      Bool.random(using: &random),
      let last = pending.indices.last
    {
      pending[last].isDurable = false
    }
    let granule = loss == .sectors ? 512 : 4_096
    let pieceCount = pending.reduce(0) { $0 + pieces(of: $1, granule).count }
    let missing = Int.random(in: 0...max(0, pieceCount - 1), using: &random)
    let end = Int.random(in: 0...pending.count, using: &random)
    var number = 0
    for (index, write) in pending.enumerated() {
      for piece in pieces(of: write, granule) {
        let isThere =
          switch loss {
          case .blocks, .sectors: Bool.random(using: &random)
          case .prefix: index < end || (index == end && Bool.random(using: &random))
          case .oneBlock: number != missing
          case .everything: false
          case .nothing: true
          }
        number += 1
        if isThere || write.isDurable { apply(piece, to: &bytes) }
      }
    }
    // The file may already have its new length without the bytes that were written at its end.
    let length = pending.reduce(bytes.count) { max($0, $1.offset + $1.payload.count) }
    if Bool.random(using: &random) { resize(&bytes, to: length) }
    return bytes
  }

  /// The write divided into pieces of `granule` bytes, each of which a disk writes as a whole or
  /// not at all.
  private func pieces(of write: Pending, _ granule: Int) -> [Pending] {
    guard write.size == nil else { return [write] }
    var pieces: [Pending] = []
    var offset = write.offset
    var start = write.payload.lowerBound
    while start < write.payload.upperBound {
      let length = min(granule - offset % granule, write.payload.upperBound - start)
      var piece = write
      piece.offset = offset
      piece.payload = start..<(start + length)
      pieces.append(piece)
      offset += length
      start += length
    }
    return pieces
  }
}
