/// Finds the newest record of the floor.
///
/// Starts at the record after the known one. Steps double while records exist, and then the range
/// is halved. Usually one request with the answer 404 is enough. The result is no older than the
/// first request of the search.
struct FloorSearch<Codec: ReplicaCodec>: Sendable {
  private let codec: Codec
  /// The newest record that was read.
  private(set) var floor: Floor
  /// A number whose record was absent during this search.
  private var absent: UInt64?
  private var step: UInt64 = 1
  private(set) var fault: ChainFault?

  init(codec: Codec, known: Floor) {
    self.codec = codec
    floor = known
  }

  /// The record whose number was asked for last.
  var name: ObjectName {
    guard let absent else { return .floor(number: floor.number + step) }
    return .floor(number: floor.number + (absent - floor.number) / 2)
  }

  /// Whether ``floor`` or ``fault`` is the result.
  var isFinished: Bool {
    if fault != nil { return true }
    guard let absent else { return false }
    return absent == floor.number + 1
  }

  /// Takes the answer to a request for ``name``, and ignores an unclear one.
  mutating func receive(_ outcome: StorageOutcome) {
    guard case .floor(let number) = name else { return }
    switch outcome {
    case .absent: absent = number
    case .object(let bytes):
      guard let slot = codec.floor(of: bytes) else { return fault = .unreadable }
      guard slot > floor.slot else { return fault = .floorFell }
      floor = Floor(number: number, slot: slot)
      if absent == nil { step *= 2 }
    default: break
    }
  }
}
