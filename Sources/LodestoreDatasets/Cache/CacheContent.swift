internal import EntityStore
internal import Foundation
internal import LodestoreFormat

/// Decides which of the available files is current, and opens it.
struct CacheContent: Sendable {
  let name: String
  let folder: DatasetFolder
  let seed: String?
  let entities: [any Entity.Type]
  let storeOptions: StoreOptions
  /// The keys that the program carries; `nil` for a dataset without a publisher.
  var carried: TrustedKeys?
  /// The current time, for a dataset whose generations are numbered by time; `nil` for a published
  /// one.
  var clock: (@Sendable () -> Date)?

  /// The result of the choice: the generation that was opened, and facts about generations that
  /// were not chosen.
  struct Choice: Sendable {
    var open: OpenGeneration?
    var seed: OpenGeneration?
    /// The reason why a generation with a higher number, which is in the folder, cannot be used.
    var unusable: DatasetError?
  }

  /// A text that distinguishes the program's entities from the entities of its other versions;
  /// `nil` if one store cannot have all the entities.
  ///
  /// The text includes the format's version, because a program with another version may be able to
  /// open a file that this program cannot open.
  var schemaOfEntities: String? {
    Store.fingerprint(ofNewStoreWith: entities).map { "\(FormatVersion.current.rawValue):\($0)" }
  }

  /// Reads the folder's state; rebuilds a damaged state from the numbers and seals of the sealed
  /// files in the folder.
  ///
  /// - Throws: An error with the code `unsuitableFolder` for the state of another dataset or of a
  ///   later library.
  func state() throws -> CacheState {
    do {
      guard let state = try CacheState.read(folder) else { return CacheState(name: name) }
      guard state.name == name else {
        throw DatasetError.otherFolder(folder.path, found: state.name, expected: name)
      }
      return state
    } catch let error as CacheState.Unreadable {
      guard error == .damaged else { throw DatasetError.newerState(folder.state) }
      return try rebuiltState()
    }
  }

  private func rebuiltState() throws -> CacheState {
    var state = CacheState(name: name)
    state.rebuiltAt = Date()
    let numbers = folder.numbers
    if let trust = CacheState.readTrust(folder, name: name) {
      state.trust = trust
    } else {
      state.trust.keep(carried, from: carried, generation: numbers.last ?? 0)
    }
    for number in numbers.reversed() {
      let found = try? OpenGeneration.open(
        folder.generation(number), dataset: name, generation: number, source: .refresh,
        entities: entities, options: storeOptions)
      guard let found else { continue }
      // A file whose number is above all generations that the keys have signed was installed
      // without a signature.
      let isSigned = carried == nil || number <= state.trust.highestSeen(from: carried)
      state.install(
        CacheState.Installed(
          found.seal, source: isSigned ? .refresh : .file, installedAt: Date(), digest: nil,
          keys: isSigned ? state.trust.text(from: carried) : nil))
      break
    }
    return state
  }

  /// Opens the first usable generation of the state, or the seed.
  ///
  /// The seed wins with a higher number, even if it came with a later version of the program than
  /// the download. With equal numbers the download wins. If the first generation cannot be used,
  /// the highest usable generation is opened: an older download, the seed or the currently open
  /// generation.
  ///
  /// - Parameters:
  ///   - known: The seed, if this process has opened it before.
  ///   - before: The generation that this process uses. A generation that stays current is not
  ///     opened again.
  func choose(
    _ state: CacheState, seed known: OpenGeneration?, current before: OpenGeneration?
  ) -> Choice {
    var choice = Choice(seed: known)
    var badSeed: DatasetError?
    if known == nil, let path = seed {
      do throws(DatasetError) {
        // The path may contain symbolic links, as in many packages of programs.
        if let path = SystemFile.resolved(path) {
          choice.seed = try OpenGeneration.open(
            path, dataset: name, generation: nil, source: .seed, entities: entities,
            options: storeOptions)
        }
        if choice.seed == nil { badSeed = .missingSeed(path) }
      } catch {
        badSeed = error
      }
    }
    let first = state.current?.generation ?? 0
    for installed in state.installed {
      if let seed = choice.seed, wins(seed.number, over: installed.generation, state) { break }
      if let before, before.source != .seed {
        if before.isFile(of: installed) {
          choice.open = before
          return choice
        }
        // The generation that is open now was current before, so it takes precedence over installed
        // generations with lower numbers.
        if choice.unusable != nil, installed.generation < before.number, before.number < first {
          break
        }
      }
      do throws(DatasetError) {
        let path = folder.generation(installed.generation)
        var open = try OpenGeneration.open(
          path, dataset: name, generation: installed.generation, source: installed.source,
          entities: entities, options: storeOptions)
        open?.digest = installed.digest
        choice.open = open
        if open != nil { return choice }
        choice.unusable = choice.unusable ?? .missingGeneration(path)
      } catch {
        choice.unusable = choice.unusable ?? error
      }
    }
    choice.open = choice.seed
    let isGone = state.current == nil
    if choice.unusable != nil || isGone, let before, before.source != .seed,
      before.number > choice.seed?.number ?? 0
    {
      choice.open = before
      // The state that named the open generation was removed or damaged. The generation stays in
      // use, and the status says that its file is missing.
      if isGone { choice.unusable = .missingGeneration(folder.generation(before.number)) }
    }
    choice.unusable = choice.unusable ?? badSeed
    return choice
  }

  /// The open generation was current before, so it is preferred to generations with lower numbers.
  func highest(_ state: CacheState, _ choice: Choice, isSigned: Bool = true) -> UInt64 {
    let seed = choice.seed?.number ?? 0
    if state.trust.takesAnyNumber { return seed }
    let seen = max(seed, state.trust.highestSeen(from: carried))
    guard let open = choice.open, open.source != .seed else { return seen }
    let text = state.trust.text(from: carried)
    let counts = !isSigned || state.installed.contains { open.isFile(of: $0) && $0.keys == text }
    return counts ? max(seen, open.number) : seen
  }

  /// Whether a generation number that was derived from the time is more than a day in the future,
  /// so that its clock was wrong.
  func isAhead(_ number: UInt64, at time: Date? = nil) -> Bool {
    guard let now = time ?? clock?() else { return false }
    return number > ServiceImport.number(at: now.addingTimeInterval(86_400), after: 0)
  }

  /// Whether a seed is newer than an installed generation.
  ///
  /// The number of a generation that an import from a service made while the clock was ahead is too
  /// high. Such a generation counts as newer only than those that the cache held before it.
  private func wins(_ seed: UInt64, over number: UInt64, _ state: CacheState) -> Bool {
    guard clock != nil, isAhead(number), !isAhead(seed) else { return seed > number }
    return seed > state.numberBefore
  }

  /// Removes generations that the state does not name and nobody reads, and the remains of their
  /// downloads.
  ///
  /// Requires the refresh lock.
  ///
  /// - Parameter isSwapped: Whether a generation has just become current. If false, files with
  ///   higher numbers stay: such a file may be a complete download of a process that was killed
  ///   before the swap.
  func removeOld(_ state: CacheState, isSwapped: Bool) {
    guard let current = state.current else { return }
    // A started download of a lower generation is kept if that generation may still become current.
    // This is possible if the publisher's next generation may have any number, or if the current
    // file has no signature.
    if !state.trust.takesAnyNumber, current.keys != nil {
      folder.removeIncoming(upTo: current.generation)
    }
    for number in folder.numbers
    where !state.installed.contains(where: { $0.generation == number })
      && (isSwapped || number < current.generation)
    {
      let path = folder.generation(number)
      // A process that has the file open holds a shared lock on it.
      if let lock = try? FileLock.exclusive(of: path) {
        SystemFile.remove(path)
        withExtendedLifetime(lock) {}
      }
    }
  }
}

extension OpenGeneration {
  /// Whether the file belongs to an entry of the state.
  func isFile(of installed: CacheState.Installed) -> Bool {
    number == installed.generation
      && (digest == nil || installed.digest == nil || digest == installed.digest)
  }
}

extension CacheState.Installed {
  init(
    _ seal: Seal, source: DatasetGeneration.Source, installedAt: Date, digest: String?,
    keys: String?
  ) {
    self.init(
      generation: seal.generation, source: source, dataAsOf: seal.dataAsOf, builtAt: seal.sealedAt,
      installedAt: installedAt, digest: digest, schema: seal.schemaFingerprint, keys: keys)
  }
}
