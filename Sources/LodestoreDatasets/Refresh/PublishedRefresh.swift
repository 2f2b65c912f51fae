internal import EntityStore
internal import Foundation
internal import LodestoreFormat
internal import LodestoreWeb

/// Refreshes a dataset from the files of its publisher.
///
/// Mirrors are requested one after the other, each once. If all mirrors fail, the most important
/// error is thrown. The order is: an error of a signature, of the publisher, of a file, of the
/// network.
struct PublishedRefresh: Sendable {
  let installer: Installer
  let mirrors: [URL]
  let keys: TrustedKeys
  /// The open seed.
  let seed: OpenGeneration?
  let options: CachedDataset.Options
  let time: Date
  /// Whether mirrors are requested even before the time until which they asked not to receive
  /// requests.
  let isForced: Bool
  let report: @Sendable (RefreshProgress) -> Void

  func run(_ state: inout CacheState, _ choice: CacheContent.Choice) async throws -> Refreshed {
    var result = RefreshReport(outcome: .current, generation: choice.open?.number ?? 0)
    var errors: [DatasetError] = []
    var hasTriedPatch = false
    for mirror in places(state) {
      if !isForced, let next = waitsFor(mirror, state) {
        let error = DatasetError.waiting(
          installer.content.name, until: next, after: "the wait that a server asked for")
        errors.append(error)
        result.detours.append(error.message)
        continue
      }
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
        if let serverWait = (error.cause as? WebSourceError)?.retryAfter {
          let wait = min(serverWait, Backoff.longestServerWait)
          state.keepFrom(Self.key(mirror), until: time.addingTimeInterval(wait.inSeconds))
        }
        // These errors come from this machine or program, and would occur with every mirror, so no
        // other mirror is requested.
        let isOfAll: [DatasetError.Code] = [.diskFull, .incompatibleSchema, .unsupported]
        guard !isOfAll.contains(error.code) else { throw error }
        errors.append(error)
        result.detours.append(error.message)
      }
    }
    throw errors.max { Self.weight($0) < Self.weight($1) } ?? .noOrigin(installer.content.name)
  }

  /// The time before which the server of a mirror asked not to be requested, if it is in the
  /// future.
  private func waitsFor(_ mirror: URL, _ state: CacheState) -> Date? {
    guard let next = state.notBefore[Self.key(mirror)], next > time,
      next.timeIntervalSince(time) <= Backoff.longestServerWait.inSeconds
    else { return nil }
    return next
  }

  /// The part of a mirror's address by which the state stores the wait that the mirror's server
  /// asked for.
  private static func key(_ url: URL) -> String {
    "\(url.scheme ?? "")://\(url.host ?? ""):\(url.port ?? 0)\(url.path)"
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

  /// The program's mirrors, then the mirrors that the last verified manifest names.
  private func places(_ state: CacheState) -> [URL] {
    var places = mirrors
    let isSecure = mirrors.allSatisfy { $0.scheme?.lowercased() == "https" }
    for text in state.mirrors {
      guard let url = URL(string: text),
        !places.contains(where: { Self.folder($0) == Self.folder(url) })
      else { continue }
      // A manifest cannot redirect from HTTPS to HTTP, nor to files of this machine.
      let scheme = url.scheme?.lowercased()
      if scheme == "https" || scheme == "http" && !isSecure { places.append(url) }
    }
    return places
  }

  private func place(_ url: URL) throws -> PublishedFiles {
    if url.isFileURL { return PublishedFiles(folder: url.path(percentEncoded: false)) }
    let isOwn = mirrors.contains(url)
    var web = options.web
    if !isOwn {
      web.fields = [:]
      // A mirror that a manifest names must not lead into the program's own network either. The
      // connection's numeric address is checked, whatever host name led to it.
      web.addresses = .notNarrower(than: mirrors)
    }
    return PublishedFiles(web: try WebFiles(Self.folder(url), options: web))
  }

  /// The address with a slash at the end of its path, because the paths of files are relative to
  /// the folder.
  private static func folder(_ url: URL) -> URL {
    guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true),
      !parts.percentEncodedPath.hasSuffix("/")
    else { return url }
    parts.percentEncodedPath += "/"
    return parts.url ?? url
  }
}
