import AsyncAlgorithms
import Foundation
import Lodestore
import Logging
import ServiceLifecycle

/// Purges the history regularly while the server runs, and closes the store afterwards.
struct StoreService: Service {
  let store: Store
  let historyAge: Duration
  let logger: Logger

  func run() async throws {
    let hours = AsyncTimerSequence(interval: .seconds(3_600), clock: .continuous)
    for await _ in hours.cancelOnGracefulShutdown() {
      do {
        let date = Date.now - TimeInterval(historyAge.components.seconds)
        try await store.purgeHistory(before: date)
      } catch {
        logger.error("the history was not purged", metadata: ["error": "\(error)"])
      }
    }
    store.close()
  }
}
