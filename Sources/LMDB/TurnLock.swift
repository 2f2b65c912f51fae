/// A lock that threads get in the order in which they asked for it.
///
/// With a plain one, a thread that gives it back and at once asks again has it before another one
/// has woken up: a busy writer would keep all others of its process out.
///
/// Guarded by `gate`: `nextTicket`, the one that the next thread draws; `served`, that of the
/// holder, equal to `nextTicket` when there is none; `abandoned`, those of threads that gave up.
final class TurnLock: @unchecked Sendable {
  private let gate = HeldLock()
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

  /// Returns false, without the lock, when its turn does not come in time.
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

  /// How often it was asked for.
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
