import EntityStore

/// A write in progress, whose calls are compared with the model one by one.
struct GuildWrite: Sendable {
  var state: GuildState
  var numbers: SeededNumbers
  var log: [String] = []

  private struct Abort: Error { var write: GuildWrite }

  mutating func run(_ operation: GuildOperation, _ tx: inout WriteTransaction) throws {
    if case .savepoint(let operations, let isThrowing) = operation {
      return try savepoint(operations, isThrowing, &tx)
    }
    log.append("\(operation)")
    do {
      let ids = try operation.perform(&tx)
      do {
        state = try operation.applied(to: state, ids: ids)
      } catch {
        throw Disagreement("\(log): done, the model refuses with \(error.codes)")
      }
    } catch let error as StoreError {
      // The store ends this run of the closure with such an error, and runs the closure again.
      if error.code == .mapFull || error.code == .brokenTransaction { throw error }
      log[log.count - 1] += " refused, \(error.code)"
      do {
        let next = try operation.applied(to: state, ids: [])
        throw Disagreement("\(log): \(error), the model has \(next.without(state))")
      } catch let refusal as GuildState.Refusal {
        guard refusal.codes.contains(error.code) else {
          throw Disagreement("\(log): \(error), the model \(refusal.codes)")
        }
      }
    }
    if numbers.oneIn(3) { try compare(tx) }
  }

  private mutating func savepoint(
    _ operations: [GuildOperation], _ isThrowing: Bool, _ tx: inout WriteTransaction
  ) throws {
    log.append("savepoint")
    let before = self
    do {
      self = try tx.savepoint { inner throws in
        var write = before
        for operation in operations { try write.run(operation, &inner) }
        if isThrowing { throw Abort(write: write) }
        return write
      }
      log.append("end of savepoint")
    } catch let error as Abort {
      numbers = error.write.numbers
      log = error.write.log + ["savepoint taken back"]
    }
    try compare(tx)
  }

  private func compare(_ tx: borrowing WriteTransaction) throws {
    let found = try GuildState(tx, checksDerived: false).takingGrades(of: state)
    if found != state.readable {
      throw Disagreement(log, found, state.readable)
    }
  }
}

/// The error by which the program aborts a write.
struct Aborted: Error { var write: GuildWrite }

/// A write that the commit must refuse.
struct Refused: Error {
  var write: GuildWrite
}
