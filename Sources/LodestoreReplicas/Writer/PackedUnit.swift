internal import EntityStore
internal import LodestoreFormat

/// The changes between two writes, packed as the bodies of entries.
struct PackedUnit: Sendable {
  /// The bodies of the entries; the last one has the facts about the end.
  var bodies: [PackBody]
  var end: ReplayEnd
  /// The time of the last write; `nil` if only buckets have changed.
  var time: Double?
  /// Whether nothing has changed.
  var isEmpty: Bool

  /// The limits of a unit, which a follower applies as a whole and so has in memory.
  struct Limits: Sendable {
    /// The packed size of a body after which the next one begins; `nil` for the usual size.
    var bodyBytes: Int?
    /// The size of all bodies beyond which a base is smaller than the pack.
    var bytes = 512 << 20
    /// The unpacked size of all bodies.
    var unpackedBytes: UInt64 = 2 << 30
    /// The number of steps, each of which costs a follower some hundred bytes.
    var steps = 1 << 20
  }

  /// Packs the changes that a transaction sees after the request's write.
  ///
  /// Changes beyond the limits are packed as the net changes of all writes. A writer whose storage
  /// was away for long has such changes. The writes between cannot be restored one by one then.
  ///
  /// - Parameter numbers: the numbers of writes in the log.
  /// - Throws: ``ReplayError``; ``PackError`` with the code `tooLarge`.
  static func packing(
    _ snapshot: borrowing Snapshot, _ request: ReplayRequest, _ numbers: WriteNumbers,
    level: Int, limits: Limits
  ) throws -> PackedUnit {
    do {
      return try PackedUnit(snapshot, request, numbers, level, limits)
    } catch let error as PackError {
      guard error.code == .tooLarge, !request.isNet else { throw error }
      var net = request
      net.isNet = true
      return try PackedUnit(snapshot, net, numbers, level, limits)
    }
  }

  private init(
    _ snapshot: borrowing Snapshot, _ request: ReplayRequest, _ numbers: WriteNumbers,
    _ level: Int, _ limits: Limits
  ) throws {
    var bodies: [PackBody] = []
    var writer = try PackWriter(level: level)
    var count = 0
    var stepCount = 0
    var unpackedCount: UInt64 = 0
    var time: Double?
    func endBody() throws {
      var full = try PackWriter(level: level)
      swap(&full, &writer)
      let body = try full.finish()
      bodies.append(body)
      count += body.bytes.count
      unpackedCount += body.unpackedLength
      guard count <= limits.bytes, unpackedCount <= limits.unpackedBytes else {
        throw PackError(
          .tooLarge,
          "cannot pack \(count) bytes at once, which are \(unpackedCount) bytes unpacked: at most "
            + "\(limits.bytes) and \(limits.unpackedBytes) are allowed")
      }
    }
    let end = try snapshot.forEachReplayStep(request) { step in
      if writer.isFull || limits.bodyBytes.map({ writer.byteCount >= $0 }) ?? false {
        try endBody()
      }
      time = step.time
      stepCount += 1
      guard stepCount <= limits.steps else {
        throw PackError(.tooLarge, "cannot pack more than \(limits.steps) steps at once")
      }
      var step = step
      step.writes =
        numbers.inLog(step.writes.lowerBound)...numbers.inLog(step.writes.upperBound)
      try writer.add(step)
    }
    // Writes whose changes cancel have no step, but the log counts them.
    isEmpty = stepCount == 0 && end.buckets.isEmpty && end.last == end.after
    // Buckets are whole, so they get the space of an entry of their own after many steps.
    if !end.buckets.isEmpty, writer.byteCount > 1 << 20 { try endBody() }
    var shifted = end
    shifted.after = numbers.inLog(end.after)
    shifted.last = numbers.inLog(end.last)
    try writer.add(shifted)
    try endBody()
    for body in bodies where body.bytes.count > PackLimits.entry - PackLimits.head - 64 {
      throw PackError(.tooLarge, "cannot pack \(body.bytes.count) bytes in one entry")
    }
    (self.bodies, self.end, self.time) = (bodies, end, time)
  }
}
