import Foundation
import HTTPTypes
import Hummingbird
import Lodestore
import Metrics

/// The routes for the health and the metrics of the server.
struct StatusRoutes<Context: RequestContext> {
  let store: Store

  func add(to router: Router<Context>) {
    router.get("health") { _, _ in try await health() }
    router.get("metrics") { _, _ in try await metrics() }
  }

  private struct Health: Encodable {
    var status: String
    var podspecs: Int
  }

  /// Answers "ok" if the store can be read.
  private func health() async throws -> Response {
    try .json(Health(status: "ok", podspecs: try await store.count(Podspec.all)))
  }

  private func metrics() async throws -> Response {
    let (podspecs, writes) = try await store.read { snapshot in
      (try snapshot.count(Podspec.all), try snapshot.historyToken().number)
    }
    let readers = try store.readers()
    let size = try? FileManager.default.attributesOfItem(atPath: store.path)[.size] as? Int
    gauge("pods.store.podspecs", podspecs)
    gauge("pods.store.writes", writes)
    gauge("pods.store.file.bytes", size ?? 0)
    gauge("pods.store.readers", readers.count)
    gauge("pods.store.readers.commits.behind", readers.map(\.commitsBehind).max() ?? 0)
    return Response(
      status: .ok, headers: [.contentType: "text/plain; version=0.0.4"],
      body: .init(byteBuffer: ByteBuffer(string: PrometheusMetrics.shared.text)))
  }

  private func gauge(_ label: String, _ value: some BinaryInteger) {
    Meter(label: label).set(value)
  }
}
