public import EntityStore
public import Foundation
import LodestoreSystem
internal import LodestoreVerifier

extension DatasetPublisher {
  /// Publishes a sealed file as the newest generation.
  ///
  /// The file is first checked against the whole format, as by `kvdump verify`. The call takes the
  /// time of reading the file about three times, and once more for each patch.
  ///
  /// - Parameter path: The sealed file, which is not changed.
  /// - Returns: The manifest, the patches, and the removed files.
  /// - Throws: `DatasetError` with the code `notSealed`, `damaged`, `notNewer`, `otherDataset`,
  ///   `badKey`, `busy`, `inputOutput` or `diskFull`. The folder then keeps its previous manifest.
  @discardableResult
  public func publish(_ path: String) throws(DatasetError) -> PublishReport {
    let facts = try PublishedFacts(ofFileAt: path)
    try Self.check(path)
    return try publish(path, facts)
  }

  /// Seals a store as the generation after the newest one, and publishes it.
  ///
  /// - Parameters:
  ///   - store: The store, which may be in use meanwhile. Its newest commit is published.
  ///   - name: The dataset's name; `nil` for the name in the folder's manifest.
  ///   - dataAsOf: The date up to which the data is complete.
  /// - Throws: `DatasetError` as ``publish(_:)``, and `StoreError` if the store cannot be sealed.
  @discardableResult
  public func publish(
    sealing store: Store, name: String? = nil, dataAsOf: Date
  ) throws -> PublishReport {
    try publishNext(name: name, generation: nil) { path, name, generation in
      _ = try store.seal(to: path, name: name, generation: generation, dataAsOf: dataAsOf)
    }
  }

  /// Publishes the file that a closure seals.
  ///
  /// - Parameter generation: The file's number; `nil` for the one after the newest published.
  package func publishNext(
    name: String?, generation: UInt64?,
    _ seal: (_ path: String, _ name: String, _ generation: UInt64) throws -> Void
  ) throws -> PublishReport {
    let known = try KeyChain(in: directory, name: name)
    guard let name = name ?? known.newest?.name else { throw DatasetError.unnamed(directory) }
    // A process that is killed leaves the sealed file in the folder, where the next publisher
    // removes it.
    let folder = try PublishedFolder(directory)
    let removed = try folder.removeTemporaries()
    let newest = try Self.manifest(in: directory, chain: try KeyChain(in: directory, name: name))
    let path = folder.temporary
    defer { unlink(path) }
    let last = try newest?.generation ?? GenerationFile.all(in: directory).map(\.generation).max()
    try seal(path, name, generation ?? (last ?? 0) + 1)
    let facts = try PublishedFacts(ofFileAt: path)
    try Self.check(path)
    return try publish(path, facts, in: folder, removed: removed)
  }

  private static func check(_ path: String) throws(DatasetError) {
    do {
      let report = try Verifier.verify(path: path, limit: 1)
      guard report.isSound else {
        throw DatasetError.unsound(path, report.findings.first?.description ?? "it has problems")
      }
    } catch let error as DatasetError {
      throw error
    } catch {
      throw DatasetError.unsound(path, "\(error)")
    }
  }
}
