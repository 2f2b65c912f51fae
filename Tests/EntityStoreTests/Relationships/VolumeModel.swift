/// A dictionary of volumes with the rules of an import: keys, merge policies, and links that are
/// resolved later.
struct VolumeModel {
  /// The counts of an import's records.
  struct Counts: Equatable {
    var inserted = 0, updated = 0, unchanged = 0, ignored = 0, rejected = 0
    var unresolved = 0, made = 0
  }

  /// Values by attribute name; `nil` is null.
  ///
  /// A link has the key of its record, or ``open`` while there is no such record.
  typealias Values = [String: String?]

  private static let open = "?"
  private static let links = ["author", "sequelOf", "partner"]
  private static let attributes = ["note", "stars", "updatedAt"] + links

  var writers: Set<String>
  private(set) var volumes: [String: Values] = [:]
  private var editors: [String: Set<String>] = [:]

  private enum Outcome { case inserted, updated, unchanged, ignored, rejected, taken }

  /// A link whose target record does not exist yet.
  private struct Pending: Equatable {
    var code: String
    var link: String
    var key: String
  }

  init(writers: Set<String>) { self.writers = writers }

  /// The volumes as `Store.volumes()` has them.
  var description: [String] {
    volumes.map { code, values in
      var text = code
      func add(_ label: String, _ name: String) {
        if let value = values[name] ?? nil, !(name == "stars" && value == "0") {
          text += " \(label)=\(value)"
        }
      }
      add("note", "note")
      add("stars", "stars")
      add("at", "updatedAt")
      for link in Self.links { add(link, link) }
      if let editors = editors[code], !editors.isEmpty {
        text += " editors=\(editors.sorted().joined(separator: "+"))"
      }
      return text
    }.sorted()
  }

  // MARK: An import

  /// The state of one import.
  private struct Run {
    let policy: VolumePolicy
    let makesMissing: Bool
    var pending: [Pending] = []
    /// The keys of volumes that a link has created and that no page has brought yet.
    var made: Set<String> = []
    var counts = Counts()
  }

  mutating func importPages(
    _ pages: [[VolumeRow]], _ policy: VolumePolicy, makesMissing: Bool
  ) -> Counts {
    var run = Run(policy: policy, makesMissing: makesMissing)
    for page in pages { take(page, &run) }
    for link in Self.links + ["editors"] {
      for one in run.pending where one.link == link { resolve(one, &run) }
    }
    return run.counts
  }

  private mutating func resolve(_ one: Pending, _ run: inout Run) {
    switch one.link {
    case "editors", "author":
      // The import brings no writers, so the link stays unresolved.
      run.counts.unresolved += 1
    default:
      guard volumes[one.key] != nil else {
        run.counts.unresolved += 1
        return
      }
      if one.link == "partner", isTaken(partner: one.key, from: one.code) {
        run.counts.rejected += 1
      } else {
        volumes[one.code]?[one.link] = one.key
      }
    }
  }

  private func isTaken(partner: String?, from code: String) -> Bool {
    guard let partner, partner != Self.open else { return false }
    return volumes.contains { $0.key != code && $0.value["partner"] == partner }
  }

  /// Applies a page.
  ///
  /// If records to which others lead are refused, applies the page again without them.
  private mutating func take(_ rows: [VolumeRow], _ run: inout Run) {
    var lost: Set<Int> = []
    while true {
      var (model, tried) = (self, run)
      let found = model.take(rows, without: lost, &tried)
      if found.isEmpty {
        (self, run) = (model, tried)
        return
      }
      lost.formUnion(found)
    }
  }

  /// Applies a page without the rows `lost`; returns the refused rows to which other rows lead.
  private mutating func take(
    _ rows: [VolumeRow], without lost: Set<Int>, _ run: inout Run
  ) -> Set<Int> {
    var outcomes = [Outcome?](repeating: nil, count: rows.count)
    if run.policy.takesLast {
      for row in rows.indices
      where rows[(row + 1)...].contains(where: { $0.code == rows[row].code }) {
        outcomes[row] = .rejected
      }
    }
    var targets: Set<Int> = []
    let known = Set(volumes.keys)
    let incoming = values(of: rows, known, lost, &targets, &run)
    var merged: [Int: Values] = [:]
    // The rows are written one by one, then as exchanges of partners, and then the rest once more.
    var refused: [Int] = []
    for row in rows.indices where outcomes[row] == nil {
      let follows = refused.contains { rows[$0].code == rows[row].code }
      let outcome = follows ? .taken : write(rows[row], incoming[row], run, &merged[row])
      if outcome == .taken { refused.append(row) } else { outcomes[row] = outcome }
    }
    exchange(refused, rows, incoming, run, &merged, &outcomes)
    for row in refused where outcomes[row] == nil {
      let outcome = write(rows[row], incoming[row], run, &merged[row])
      outcomes[row] = outcome == .taken ? .rejected : outcome
    }
    for (row, outcome) in outcomes.enumerated() {
      if outcome != .rejected { run.made.remove(rows[row].code) }
      count(outcome ?? .rejected, &run.counts)
    }
    let found = targets.filter { outcomes[$0] != .inserted }
    if found.isEmpty { finish(rows, incoming, merged, outcomes, &run) }
    return found
  }

  private func count(_ outcome: Outcome, _ counts: inout Counts) {
    switch outcome {
    case .inserted: counts.inserted += 1
    case .updated: counts.updated += 1
    case .unchanged: counts.unchanged += 1
    case .ignored: counts.ignored += 1
    case .rejected, .taken: counts.rejected += 1
    }
  }

  /// The incoming values of the rows, with their links resolved.
  private mutating func values(
    of rows: [VolumeRow], _ known: Set<String>, _ lost: Set<Int>, _ targets: inout Set<Int>,
    _ run: inout Run
  ) -> [Values] {
    var all = rows.map { row in
      var values = row.members
      if run.policy.isPart { return values }
      for name in ["note", "updatedAt"] where values[name] == nil {
        values.updateValue(nil, forKey: name)
      }
      if values["stars"] == nil { values["stars"] = "0" }
      return values
    }
    // The links are resolved in this order, because a resolved link can make others resolvable.
    for link in ["author", "sequelOf", "partner"] {
      for row in rows.indices {
        guard let key = all[row][link] ?? nil else { continue }
        if link == "author" {
          if !writers.contains(key) { all[row][link] = Self.open }
          continue
        }
        if known.contains(key) { continue }
        let ofPage = rows.indices.filter { rows[$0].code == key && !lost.contains($0) }
        if let target = run.policy.takesLast ? ofPage.last : ofPage.first {
          targets.insert(target)
        } else if volumes[key] != nil {
          continue
        } else if link == "sequelOf", run.makesMissing {
          volumes[key] = ["stars": "0"]
          run.made.insert(key)
          run.counts.made += 1
        } else {
          all[row][link] = Self.open
        }
      }
    }
    return all
  }

  // MARK: Records

  private mutating func write(
    _ row: VolumeRow, _ values: Values, _ run: Run, _ merged: inout Values?
  ) -> Outcome {
    let stored = volumes[row.code]
    guard let result = result(row, values, run) else {
      let isKept = run.policy == .ignore && stored != nil && !run.made.contains(row.code)
      return isKept ? .ignored : .rejected
    }
    if isTaken(partner: result["partner"] ?? nil, from: row.code) { return .taken }
    merged = result
    volumes[row.code] = closed(result)
    guard let stored else { return .inserted }
    return isSame(closed(result), stored) ? .unchanged : .updated
  }

  private func closed(_ values: Values) -> Values {
    values.mapValues { $0 == Self.open ? nil : $0 }
  }

  private func isSame(_ a: Values, _ b: Values) -> Bool {
    Self.attributes.allSatisfy { (a[$0] ?? nil) == (b[$0] ?? nil) }
  }

  /// The new values of the volume; `nil` if the row is refused or changes nothing.
  private func result(_ row: VolumeRow, _ values: Values, _ run: Run) -> Values? {
    var merged: Values
    if let stored = volumes[row.code] {
      let isMade = run.made.contains(row.code)
      guard let result = isMade ? taking(values, stored) : merge(values, stored, run.policy) else {
        return nil
      }
      merged = result
    } else {
      merged = taking(values, ["stars": "0"])
    }
    let isRated = (merged["stars"] ?? nil).flatMap { Int($0) } ?? 0 > 5
    let author = merged["author"] ?? nil
    return isRated && (author == nil || author == Self.open) ? nil : merged
  }

  private func taking(_ values: Values, _ stored: Values) -> Values {
    stored.merging(values) { _, incoming in incoming }
  }

  private func merge(_ values: Values, _ stored: Values, _ policy: VolumePolicy) -> Values? {
    var merged = stored
    func at(_ values: Values, _ name: String) -> String? { values[name] ?? nil }
    switch policy {
    case .replace, .patch: return taking(values, stored)
    case .ignore: return nil
    case .authorStays:
      merged = taking(values, stored)
      if let author = at(stored, "author") { merged["author"] = author }
    case .fillNulls:
      for (name, value) in values where at(stored, name) == nil {
        merged.updateValue(value, forKey: name)
      }
    case .failIfDifferent:
      for (name, value) in values where value != at(stored, name) {
        if value == Self.open, at(stored, name) == nil { continue }
        return nil
      }
    case .newest:
      if let date = at(stored, "updatedAt") {
        guard let other = at(values, "updatedAt"), other >= date else { return stored }
      }
      return taking(values, stored)
    case .closure:
      merged = taking(values, stored)
      for name in ["note", "sequelOf"] {
        if let value = at(stored, name) { merged[name] = value }
      }
    }
    return merged
  }

  /// Writes the rows whose stored volumes exchange their partners among each other.
  private mutating func exchange(
    _ rows: [Int], _ all: [VolumeRow], _ incoming: [Values], _ run: Run,
    _ merged: inout [Int: Values],
    _ outcomes: inout [Outcome?]
  ) {
    guard rows.count > 1 else { return }
    var results: [(row: Int, code: String, values: Values)] = []
    for row in rows {
      let code = all[row].code
      guard volumes[code] != nil, !results.contains(where: { $0.code == code }),
        let result = result(all[row], incoming[row], run)
      else { continue }
      results.append((row, code, result))
    }
    func partner(_ values: Values) -> String? { values["partner"] ?? nil }
    func holder(of wanted: String, except code: String) -> String? {
      volumes.first { $0.key != code && partner($0.value) == wanted }?.key
    }
    func gives(_ code: String, _ wanted: String) -> Bool {
      results.contains { $0.code == code && partner($0.values) != wanted }
    }
    var claimed: Set<String> = []
    var isOut: Set<String> = []
    for one in results {
      guard let wanted = partner(one.values), wanted != Self.open,
        wanted != partner(volumes[one.code] ?? [:])
      else { continue }
      let isFree = holder(of: wanted, except: one.code).map { gives($0, wanted) } ?? true
      if !isFree || !claimed.insert(wanted).inserted { isOut.insert(one.code) }
    }
    var isStable = false
    while !isStable {
      isStable = true
      for one in results where !isOut.contains(one.code) {
        guard let wanted = partner(one.values), wanted != Self.open else { continue }
        guard let holder = holder(of: wanted, except: one.code) else { continue }
        if isOut.contains(holder) || !gives(holder, wanted) {
          isOut.insert(one.code)
          isStable = false
        }
      }
    }
    for one in results where !isOut.contains(one.code) {
      volumes[one.code] = closed(one.values)
      merged[one.row] = one.values
      outcomes[one.row] = .updated
    }
  }

  // MARK: Links that are open

  private mutating func finish(
    _ rows: [VolumeRow], _ incoming: [Values], _ merged: [Int: Values], _ outcomes: [Outcome?],
    _ run: inout Run
  ) {
    let written = rows.indices.filter { row in
      outcomes[row] == .inserted || outcomes[row] == .updated || outcomes[row] == .unchanged
    }
    for link in Self.links {
      for row in written {
        guard let value = incoming[row][link] else { continue }
        let code = rows[row].code
        let isOpen = value == Self.open
        let isTaken = !isOpen || merged[row]?[link] == Self.open
        let mine = { (one: Pending) in one.code == code && one.link == link }
        let present = volumes[code]?[link] ?? nil
        let isSaid = isOpen ? isTaken : (value == nil) == (present == nil)
        if isSaid { run.pending.removeAll(where: mine) }
        guard isOpen, let key = rows[row].members[link] ?? nil else { continue }
        if isTaken {
          run.pending.append(Pending(code: code, link: link, key: key))
        } else if run.policy == .failIfDifferent {
          run.counts.unresolved += 1
        }
      }
    }
    for row in written {
      guard let names = rows[row].editors,
        !written.contains(where: {
          $0 > row && rows[$0].code == rows[row].code
            && rows[$0].editors != nil
        })
      else { continue }
      let code = rows[row].code
      run.pending.removeAll { $0.code == code && $0.link == "editors" }
      editors[code] = Set(names).intersection(writers)
      for name in names where !writers.contains(name) {
        run.pending.append(Pending(code: code, link: "editors", key: name))
      }
    }
  }
}
