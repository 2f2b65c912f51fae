/// A lock that threads acquire in the order of their requests.
///
/// With a plain lock, a thread that releases it and requests it again at once gets it before
/// another thread has woken up. A busy writer would block all others of its process.
///
/// `gate` guards `nextTicket`, the ticket of the next request; `served`, the holder's ticket, equal
/// to `nextTicket` if the lock is free; and `abandoned`, the tickets of threads that stopped
/// waiting.
final class TurnLock: @unchecked Sendable {
  private let gate = ManualLock()
  private let turn = TimedCondition()
  private var nextTicket: UInt64 = 0
  private var served: UInt64 = 0
  private var abandoned: Set<UInt64> = []

  func lock() {
    gate.lock()
    defer { gate.unlock() }
    let ticket = drawTicket()
    while served != ticket { turn.wait(gate) }
  }

  /// Takes the lock; returns false without it if the turn does not come in time.
  func lock(withinSeconds seconds: Double) -> Bool {
    let deadline = monotonicSeconds() + seconds
    gate.lock()
    defer { gate.unlock() }
    let ticket = drawTicket()
    while served != ticket {
      let left = deadline - monotonicSeconds()
      guard left > 0 else {
        abandoned.insert(ticket)
        return false
      }
      turn.wait(gate, seconds: left)
    }
    return true
  }

  func unlock() {
    gate.lock()
    defer { gate.unlock() }
    repeat { served += 1 } while !abandoned.isEmpty && abandoned.remove(served) != nil
    if served != nextTicket { turn.broadcast() }
  }

  /// The number of requests so far.
  var ticketCount: UInt64 {
    gate.lock()
    defer { gate.unlock() }
    return nextTicket
  }

  private func drawTicket() -> UInt64 {
    defer { nextTicket += 1 }
    return nextTicket
  }
}
