import HTTPTypes
import Hummingbird
import Lodestore
import Metrics
import NIOCore
import ServiceLifecycle

/// Live changes as server-sent events.
///
/// Commits wake a stream, including those of other processes. The stream reads the new writes from
/// the history when its client has received the earlier ones. A client that is slow, or was away,
/// misses nothing and delays nobody.
struct ChangeStream<Context: RequestContext> {
  let store: Store
  /// How long it may be silent.
  let heartbeat: Duration
  private let streams = Meter(label: "pods.streams")

  init(store: Store, heartbeat: Duration) { (self.store, self.heartbeat) = (store, heartbeat) }

  func add(to router: Router<Context>) {
    router.get("changes") { request, _ in try await respond(to: request) }
  }

  private func respond(to request: Request) async throws -> Response {
    let now = try await store.read { try $0.historyToken() }
    var place = now
    var greeting = "retry: 2000\n\n"
    if let text = request.headers[.lastEventID] {
      guard let token = HistoryToken(text) else {
        throw Problem(
          .badRequest, "Bad event id",
          "The Last-Event-ID \"\(text)\" is none that this server has sent. Leave it out.")
      }
      do {
        _ = try await store.history(.after(token).limit(1))
        place = token
      } catch let error as StoreError where [.expiredHistory, .invalidQuery].contains(error.code) {
        greeting += Self.reset(now)
      }
    }
    greeting += ": after write \(place.number)\n\n"
    let body = ResponseBody { [greeting, place] writer in
      streams.increment()
      defer { streams.decrement() }
      try await writer.write(ByteBuffer(string: greeting))
      try await send(after: place, to: &writer, request)
      try await writer.finish(nil)
    }
    return Response(
      status: .ok,
      headers: [
        .contentType: "text/event-stream", .cacheControl: "no-cache", .xAccelBuffering: "no",
      ],
      body: body)
  }

  /// The event for a client whose place is no longer in the history.
  private static func reset(_ now: HistoryToken) -> String {
    "event: reset\nid: \(now)\n"
      + #"data: {"detail":"Read the list anew; changes since then follow."}"# + "\n\n"
  }

  private func send(
    after place: HistoryToken, to writer: inout any ResponseBodyWriter, _ request: Request
  ) async throws {
    // The newest pulse is enough: after each of them all that is new is sent.
    let (pulses, pulse) = AsyncStream.makeStream(
      of: Pulse.self, bufferingPolicy: .bufferingNewest(1))
    let waking = Task { await wake(pulse) }
    defer { waking.cancel() }
    try await withGracefulShutdownHandler {
      try await request.body.consumeWithInboundCloseHandler { _ in
        var reader = ChangeReader(store: store, place: place)
        for await pulse in pulses {
          var isSilent = pulse == .time
          while !Task.isShuttingDownGracefully, let events = try await reader.next() {
            // Waits until the client takes it.
            try await writer.write(ByteBuffer(string: events))
            isSilent = false
          }
          if isSilent { try await writer.write(ByteBuffer(string: ": heartbeat\n\n")) }
        }
      } onInboundClosed: {
        pulse.finish()
      }
    } onGracefulShutdown: {
      pulse.finish()
    }
  }

  /// Why a stream wakes up.
  private enum Pulse { case commit, time }

  /// Pulses after each commit that changes podspecs, and when it was silent for long.
  private func wake(_ pulse: AsyncStream<Pulse>.Continuation) async {
    await withTaskGroup { group in
      group.addTask {
        // Asking for podspecs has it run again when they change; the token tells commits apart.
        let commits = store.updates { snapshot in
          _ = try snapshot.exists(Podspec.all)
          return try snapshot.historyToken()
        }
        // An error ends the stream, and the client comes back.
        do { for try await _ in commits { pulse.yield(.commit) } } catch {}
        pulse.finish()
      }
      group.addTask {
        while (try? await Task.sleep(for: heartbeat)) != nil { pulse.yield(.time) }
      }
      await group.next()
      group.cancelAll()
    }
  }
}
