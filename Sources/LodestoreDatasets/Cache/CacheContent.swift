internal import EntityStore
internal import Foundation

/// Decides which of the files that are here is current, and opens it.
struct CacheContent: Sendable {
  let name: String
  let folder: DatasetFolder
  let seed: String?
  let entities: [any Entity.Type]
  let storeOptions: StoreOptions

  /// The current generation, and what is known about others.
  struct Choice: Sendable {
    var open: OpenGeneration?
    /// Why a higher generation that is here cannot be used.
    var unusable: DatasetError?
  }

  /// Reads the state, or rebuilds a damaged one from the numbers and seals of the sealed files.
  ///
  /// - Throws: an error with the code `unsuitableFolder` for the state of another dataset or of a later library.
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
    state.highestSeen = numbers.last ?? 0
    for number in numbers.reversed() {
      let found = try? OpenGeneration.open(
        folder.generation(number), dataset: name, generation: number, source: .refresh,
        entities: entities, options: storeOptions)
      guard let found else { continue }
      state.current = CacheState.Installed(
        found.seal, source: .refresh, installedAt: Date(), digest: nil)
      break
    }
    return state
  }

  /// Opens the highest generation that can be used: the state's or the seed.
  ///
  /// The seed wins by a higher number, also when it came with a later version of the program than the download. Of
  /// equal numbers the download wins.
  ///
  /// - Parameters:
  ///   - known: the seed, where this process has opened it before.
  ///   - before: the generation that this process uses, which is not opened again when it stays current.
  func choose(
    _ state: CacheState, seed known: OpenGeneration?, current before: OpenGeneration?
  ) throws(DatasetError) -> Choice {
    var choice = Choice()
    var seed = known
    if seed == nil, let path = self.seed {
      do throws(DatasetError) {
        seed = try OpenGeneration.open(
          path, dataset: name, generation: nil, source: .seed, entities: entities,
          options: storeOptions)
        if seed == nil { choice.unusable = .missingSeed(path) }
      } catch {
        choice.unusable = error
      }
    }
    guard let current = state.current, current.generation >= seed?.number ?? 0 else {
      choice.open = seed
      return choice
    }
    if let before, before.number == current.generation, before.source != .seed {
      choice = Choice(open: before)
      return choice
    }
    do throws(DatasetError) {
      let path = folder.generation(current.generation)
      var open = try OpenGeneration.open(
        path, dataset: name, generation: current.generation, source: current.source,
        entities: entities, options: storeOptions)
      open?.digest = current.digest
      choice.open = open
      // A seed that cannot be used matters to nobody while a download can.
      choice.unusable = open == nil ? .missingGeneration(path) : nil
    } catch {
      choice.unusable = error
    }
    if choice.open == nil { choice.open = seed }
    return choice
  }

  /// Removes generations other than the current one that nobody reads; under the lock of the refresh.
  func removeOld(_ state: CacheState) {
    guard let current = state.current else { return }
    // A higher number is a complete file that no program here could use yet.
    for number in folder.numbers where number < current.generation {
      let path = folder.generation(number)
      // Whoever has the file open has a shared lock of it.
      if let lock = try? FileLock.exclusive(of: path) {
        SystemFile.remove(path)
        withExtendedLifetime(lock) {}
      }
    }
  }
}

extension CacheState.Installed {
  init(
    _ seal: Seal, source: DatasetGeneration.Source, installedAt: Date, digest: String?
  ) {
    self.init(
      generation: seal.generation, source: source, dataAsOf: seal.dataAsOf,
      builtAt: seal.sealedAt, installedAt: installedAt, digest: digest)
  }
}
