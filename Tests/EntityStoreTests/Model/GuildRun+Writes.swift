import EntityStore
import Testing

// Writes by the main program, and by another program with a smaller declaration.

extension GuildRun {
  mutating func write() throws -> String {
    let before = state
    let count = numbers.below(numbers.oneIn(4) ? 9 : 4) + 1
    let isKept = !numbers.oneIn(8)
    let seed = numbers
    let end: GuildWrite
    do {
      end = try store.write { tx throws in
        // The closure may run again, so it starts from the saved state and numbers.
        var write = GuildWrite(state: before, numbers: seed)
        for _ in 0..<count {
          try write.run(.random(write.state, &write.numbers), &tx)
        }
        guard isKept else { throw Aborted(write: write) }
        if !write.state.lateViolations.isEmpty { throw Refused(write: write) }
        return write
      }
    } catch let error as Aborted {
      (numbers, log) = (error.write.numbers, error.write.log)
      operations += error.write.log.count
      return "aborted write"
    } catch let error as Refused {
      // The model says that the commit must refuse this write, so the write is repeated and the
      // store must refuse it.
      let refused = error.write
      (numbers, log) = (refused.numbers, refused.log)
      operations += refused.log.count
      let thrown = #expect(throws: StoreError.self) {
        try store.write { tx throws in
          var write = GuildWrite(state: before, numbers: seed)
          for _ in 0..<count { try write.run(.random(write.state, &write.numbers), &tx) }
        }
      }
      let codes = refused.state.lateViolations
      guard let code = thrown?.code, codes.contains(code) else {
        throw Disagreement("\(log): \(codes), the store says \(String(describing: thrown))")
      }
      return "refused write"
    }
    (numbers, log, state) = (end.numbers, end.log, end.state)
    operations += end.log.count
    return "write"
  }

  mutating func writeLater() throws -> String {
    let grade = numbers.below(9)
    let known = state.works.keys.sorted().randomElement(using: &numbers)
    var next = state
    let artisan = state.artisans.keys.sorted().randomElement(using: &numbers)
    switch numbers.below(8) {
    case 0:
      let title = "w\(numbers.below(90))"
      log.append("later insert of \(title)")
      let stored = try later.insert(LaterWork(title, price: 3, grade: grade), onConflict: .replace)
      if let id = next.works.first(where: { $0.value.title == title })?.key {
        guard id == stored.id.rawValue else { throw Disagreement("\(id) became \(stored.id)") }
        next.works[id]?.price = 3
        next.works[id]?.grade = grade
        next.works[id]?.tags = []
      } else {
        next.works[stored.id.rawValue] = .init(title: title, price: 3, grade: grade)
      }
    case 1:
      guard let known else { return "later write" }
      log.append("later modify of \(known)")
      try later.modify(LaterWork.ID(rawValue: known)) {
        $0.grade = grade
        $0.tags = ["gold"]
      }
      next.works[known]?.grade = grade
      next.works[known]?.tags = ["gold"]
    case 2:
      log.append("later update of grades")
      try later.update(LaterWork.where { $0.grade < grade }) { $0.price.add(1) }
      for (id, work) in state.works where work.grade < grade { next.works[id]?.price += 1 }
    case 3:
      guard let known else { return "later write" }
      log.append("later delete of \(known)")
      try later.delete(LaterWork.ID(rawValue: known))
      next.works[known] = nil
    case 4:
      guard let artisan else { return "later write" }
      log.append("part modify of \(artisan)")
      try later.modify(PartArtisan.ID(rawValue: artisan)) { $0.isActive.toggle() }
      next.artisans[artisan]?.isActive.toggle()
    case 5:
      let name = "a\(numbers.below(60))"
      log.append("part replace of \(name)")
      let stored = try later.insert(PartArtisan(name, isActive: false), onConflict: .replace)
      if let id = next.artisans.first(where: { $0.value.name == name })?.key {
        guard id == stored.id.rawValue else { throw Disagreement("\(id) became \(stored.id)") }
        next.artisans[id]?.isActive = false
      } else {
        next.artisans[stored.id.rawValue] = .init(name: name, isActive: false)
      }
    case 6:
      let isActive = numbers.oneIn(2)
      log.append("part update to \(isActive)")
      try later.update(PartArtisan.where { $0.name > "a3" }) { $0.isActive = isActive }
      for (id, row) in state.artisans where row.name > "a3" {
        next.artisans[id]?.isActive = isActive
      }
    default:
      guard let artisan else { return "later write" }
      log.append("part delete of \(artisan)")
      do throws(GuildState.Refusal) {
        try next.delete(artisans: [artisan])
      } catch {
        let thrown = #expect(throws: StoreError.self) {
          try later.delete(PartArtisan.ID(rawValue: artisan))
        }
        guard let code = thrown?.code, error.codes.contains(code) else {
          throw Disagreement("\(log): \(String(describing: thrown)), the model \(error)")
        }
        return "refused later write"
      }
      try later.delete(PartArtisan.ID(rawValue: artisan))
    }
    state = next
    return "later write"
  }
}
