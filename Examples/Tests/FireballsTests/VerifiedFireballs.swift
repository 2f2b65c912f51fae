import Fireballs
import TestSupport

/// Runs `body` with fireballs in a file, which is verified when `body` is done.
///
/// - Parameter samples: Whether the file begins with the fireballs of the preview.
func withFireballs(
  samples: Bool = false, isolation: isolated (any Actor)? = #isolation,
  _ body: (FireballStore) async throws -> Void
) async throws {
  try await withStorePath { path in
    let fireballs = try FireballStore(at: path)
    defer { fireballs.store.close() }
    if samples { try fireballs.addSamples() }
    try await body(fireballs)
  }
}
