internal import EntityStore
internal import Foundation
internal import LodestoreFormat
internal import LodestoreWeb

/// Refreshes a dataset from the files of its publisher.
///
/// Mirrors are asked one after the other, each once. The first error that is worth the most is the one thrown: a
/// signature before a publisher's fault, that before a file, and a file before the network.
struct PublishedRefresh: Sendable {
  let installer: Installer
  let mirrors: [URL]
  let keys: TrustedKeys
  /// The seed that is open.
  let seed: OpenGeneration?
  let options: CachedDataset.Options
  let time: Date
  let report: @Sendable (RefreshProgress) -> Void

  func run(
    _ state: inout CacheState, _ choice: CacheContent.Choice
  ) async throws -> Refreshed {
    var result = RefreshReport(outcome: .current, generation: choice.open?.number ?? 0)
    var errors: [DatasetError] = []
    var hasTriedPatch = false
    for mirror in places(state) {
      do {
        let files = try place(mirror)
        var attempt = MirrorRefresh(
          refresh: self, files: files, current: choice.open, result: result,
          triesPatch: !hasTriedPatch)
        defer {
          hasTriedPatch = hasTriedPatch || attempt.hasTriedPatch
          result = attempt.result
        }
        let open = try await attempt.run(&state)
        state.lastPlace = files.words
        attempt.result.place = files.words
        return Refreshed(report: attempt.result, open: open)
      } catch let error as CancellationError {
        throw error
      } catch {
        try Task.checkCancellation()
        let error =
          (error as? WebSourceError).map { .network($0) } ?? error as? DatasetError
          ?? DatasetError(.network, "\(error)", cause: error)
        // A full disk or a program that is too old is the same at every mirror.
        guard error.side != .program || error.code == .notFound else { throw error }
        errors.append(error)
        result.detours.append(error.message)
      }
    }
    throw errors.max { Self.weight($0) < Self.weight($1) } ?? .noOrigin(installer.content.name)
  }

  private static func weight(_ error: DatasetError) -> Int {
    switch error.side {
    case .signature: 4
    case .publisher: 3
    case .file: 2
    case .program: 1
    case .network: 0
    }
  }

  /// The program's mirrors, then those that the last verified manifest names.
  private func places(_ state: CacheState) -> [URL] {
    var places = mirrors
    let isSecure = mirrors.allSatisfy { $0.scheme?.lowercased() == "https" }
    for text in state.mirrors {
      guard let url = URL(string: text),
        !places.contains(where: { Self.folder($0) == Self.folder(url) })
      else { continue }
      // A publisher's word does not lead from HTTPS to HTTP, nor to files of this machine.
      let scheme = url.scheme?.lowercased()
      if scheme == "https" || scheme == "http" && !isSecure { places.append(url) }
    }
    return places
  }

  private func place(_ url: URL) throws -> PublishedFiles {
    if url.isFileURL { return PublishedFiles(folder: url.path(percentEncoded: false)) }
    let isOwn = mirrors.contains(url)
    var web = options.web
    if !isOwn { web.fields = [:] }
    return PublishedFiles(web: try WebFiles(Self.folder(url), options: web))
  }

  /// The address with a slash at the end of its path: the paths of files are relative to the folder.
  private static func folder(_ url: URL) -> URL {
    guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true),
      !parts.percentEncodedPath.hasSuffix("/")
    else { return url }
    parts.percentEncodedPath += "/"
    return parts.url ?? url
  }
}
