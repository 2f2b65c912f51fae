internal import EntityStore

/// A generation whose sealed file is open.
struct OpenGeneration: Sendable {
  let store: Store
  let seal: Seal
  let source: DatasetGeneration.Source
  let path: String
  /// The fs-verity digest of the file in hexadecimal; `nil` if it is not known.
  var digest: String?

  var number: UInt64 { seal.generation }

  /// Whether the program has closed the store, so that other users must open it again.
  var isClosed: Bool {
    do {
      try store.read { _ in }
      return false
    } catch {
      return (error as? StoreError)?.code == .closed
    }
  }

  /// Opens a sealed file of a dataset; `nil` if the file does not exist.
  ///
  /// An open sealed file has a shared lock, which prevents ``CacheContent/removeOld(_:isSwapped:)``
  /// of any process from removing it. Its pages are checked unless this machine has checked them
  /// before.
  ///
  /// - Parameter generation: The number that the seal must state; `nil` for any number.
  /// - Throws: An error with the code `notSealed`, `mixedGenerations`, `otherDataset`,
  ///   `incompatibleSchema` or `unusableStore`.
  static func open(
    _ path: String, dataset name: String, generation: UInt64?, source: DatasetGeneration.Source,
    entities: [any Entity.Type], options: StoreOptions
  ) throws(DatasetError) -> OpenGeneration? {
    let store: Store
    do throws(StoreError) {
      var options = options
      options.access = .readOnly
      store = try Store(at: path, entities: entities, options: options)
    } catch  where error.code == .noSuchStore {
      return nil
    } catch {
      throw .unusable(path, error)
    }
    guard let seal = store.seal else { throw .notSealed(path) }
    guard seal.name == name else {
      throw .otherSeal(.otherDataset, path, found: "dataset '\(seal.name)'", expected: "'\(name)'")
    }
    if let generation, seal.generation != generation {
      throw .otherSeal(
        .mixedGenerations, path, found: "generation \(seal.generation)",
        expected: "generation \(generation)")
    }
    return OpenGeneration(store: store, seal: seal, source: source, path: path)
  }
}
