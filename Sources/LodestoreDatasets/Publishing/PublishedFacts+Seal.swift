internal import EntityStore
internal import LodestoreBytes
internal import LodestoreFormat
internal import LodestorePages

extension PublishedFacts {
  /// Reads the seal of a file, and the lowest version of the format (Format.md) that a program must
  /// know to read the file.
  ///
  /// - Throws: `DatasetError` with the code `notSealed`, `notFound`, `newerFormat` or `damaged`.
  init(ofFileAt path: String) throws(DatasetError) {
    let seal: Seal
    do throws(StoreError) {
      seal = try Seal(ofFileAt: path)
    } catch {
      throw DatasetError(sealOf: path, error)
    }
    self.init(
      name: seal.name, generation: seal.generation, dataAsOf: seal.dataAsOf,
      sealedAt: seal.sealedAt, schemaFingerprint: seal.schemaFingerprint,
      contentDigest: seal.contentDigest, formatVersion: try Self.lowestReader(ofFileAt: path),
      records: seal.recordCounts)
  }

  private static func lowestReader(ofFileAt path: String) throws(DatasetError) -> Int {
    do {
      let snapshot = try PageSnapshot(newestOf: PageMap(PageFile(path: path)))
      let requirement = try withExtendedLifetime(snapshot) {
        try snapshot.tree(TreeName.header.text)?.pages
          .flatMap { pages in
            try HeaderField.format.key._withBytes { (key) throws(PageError) in
              try pages.pair(of: key)?.value
            }
          }.map { try FormatRequirement(bytes: $0) }
      }
      guard let requirement else { throw DatasetError.notSealed(path, because: "it has no header") }
      return Int(requirement.lowestReader)
    } catch let error as DatasetError {
      throw error
    } catch {
      throw DatasetError.unsound(path, "\(error)")
    }
  }
}

extension DatasetError {
  fileprivate init(sealOf path: String, _ error: StoreError) {
    let code: Code =
      switch error.code {
      case .notSealed, .notAStore: .notSealed
      case .noSuchStore: .notFound
      case .newerFormat: .newerFormat
      case .damaged: .damaged
      default: .inputOutput
      }
    self.init(code, "cannot publish '\(path)': \(error.message)", cause: error)
  }
}
