import Foundation
import LodestoreMaintenance
import Testing

@testable import EntityStore

/// Applies random operations to a store of guilds and to a ``GuildState``.
///
/// The operations are writes with caught errors and savepoints, writes of a program with another
/// declaration, imports, undo, purges, pinned snapshots, reopenings, migrations, copies, and steps
/// of another process. Lists that follow updates are compared with a fetch after each step.
struct GuildRun {
  let folder: String
  var store: Store
  /// The store of a program that declares other attributes of fewer entities.
  var later: Store
  var path: String
  var lists: GuildLists
  var state: GuildState
  var numbers: SeededNumbers
  var operations = 0
  /// The number of steps of each kind so far.
  private(set) var steps: [String: Int] = [:]
  /// The last writes in the history whose states the model knows, without a gap.
  var writes: [GuildChange] = []
  var pinned: (snapshot: PinnedSnapshot, state: GuildState)?
  var stages: [MigrationStage] = []
  var copies = 0
  /// Whether another process has the file open too, so that this one does not replace it.
  var isGuest = false
  /// The calls of the last step, for the message of a failure.
  var log: [String] = []

  init(folder: String, path: String? = nil, numbers: SeededNumbers) throws {
    self.folder = folder
    self.path = path ?? folder + "/guild.lodestore"
    self.numbers = numbers
    state = GuildState()
    (store, later) = try Self.open(self.path, [])
    lists = GuildLists(store)
  }

  /// Makes some steps on the store of another process, which waits meanwhile.
  static func runSteps(_ folder: String, _ path: String, seed: UInt64) async throws {
    var run = try GuildRun(folder: folder, path: path, numbers: SeededNumbers(seed: seed))
    run.isGuest = true
    run.state = try run.read()
    for _ in 0..<run.numbers.below(30) { try await run.step() }
    try run.close()
  }

  static func open(_ path: String, _ stages: [MigrationStage]) throws -> (Store, Store) {
    var options = StoreOptions.history(.images)
    options.durability = .mayLoseLastCommit
    let store = try Store(at: path, entities: Guild.entities, migrating: stages, options: options)
    return (
      store, try Store(at: path, entities: [LaterWork.self, PartArtisan.self], options: options)
    )
  }

  mutating func close() throws {
    pinned?.snapshot.end()
    store.close()
    later.close()
    try expectSound(path)
  }

  // MARK: Steps

  /// Makes one step, after which store, model and lists must agree.
  mutating func step() async throws {
    operations += 1
    log = []
    let before = state
    let token = try latestToken()
    let name: String
    switch numbers.below(100) {
    case 0..<68: name = try write()
    case 68..<75: name = try writeLater()
    case 75..<83: name = try undo()
    case 83..<86: name = try await importAnything()
    case 86..<89: name = try await importArtisans()
    case 89..<92: name = try await importLaterWorks()
    case 92..<95: name = try pin()
    case 95..<97: name = try purge()
    case 97: name = try await together()
    case 98 where !isGuest: name = numbers.oneIn(2) ? try reopen() : try migrate()
    default: name = isGuest ? "nothing" : numbers.oneIn(2) ? try copy() : try await visit()
    }
    steps[name, default: 0] += 1
    do {
      try compare()
      // After these steps the history has writes whose states the model does not know.
      if name == "migration" || name == "copy" || name == "visit" {
        writes = []
      } else {
        try note(since: before, token)
      }
      try await lists.follow(store)
      if numbers.oneIn(25) { try expectSound(store) }
    } catch {
      throw Disagreement("after \(name), \(log.joined(separator: "; ")): \(error)")
    }
  }

  func latestToken() throws -> HistoryToken { try store.historyToken() }

  mutating func compare() throws {
    let found = try read()
    if found != state { throw Disagreement("read", found, state) }
    try store.read { try state.compareQueries($0, &numbers) }
  }

  /// Adds the write that the history reports since `token` to ``writes``, for a later undo.
  mutating func note(since before: GuildState, _ token: HistoryToken) throws {
    let told = try store.history(.after(token))
    if before == state, told.isEmpty { return }
    if told.count == 1 {
      let change = GuildChange(told[0], before: before, after: state)
      try change.checkMoves()
      // Without a change of state, the history may report only moves there and back, or an undo
      // that changed nothing.
      let isEmpty = told[0].changes.isEmpty && told[0].links.allSatisfy { $0.kind == .moved }
      if before == state, !isEmpty {
        throw Disagreement(
          "no change was reported as \(told), before it \(try store.history().suffix(3))")
      }
      writes = before == state ? [] : writes + [change]
    } else {
      writes = []
    }
  }

  /// Reads the whole store, each attribute by a program that declares it.
  func read() throws -> GuildState {
    var found = try store.read { try GuildState($0) }
    for work in try later.fetch(LaterWork.all) {
      let known = found.works[work.id.rawValue]
      guard known?.title == work.title, known?.price == work.price, known?.tags == work.tags else {
        throw Disagreement("\(work), as another program \(String(describing: known))")
      }
      found.works[work.id.rawValue]?.grade = work.grade
    }
    return found
  }
}
