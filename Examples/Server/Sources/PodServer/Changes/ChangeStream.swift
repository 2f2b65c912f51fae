import HTTPTypes
import Hummingbird
import Lodestore
import Metrics
import NIOCore
import ServiceLifecycle

/// Live changes as server-sent events.
///
/// Each commit wakes the stream, also a commit of another process. The stream reads the new writes
/// from the history when its client has received the earlier writes. A slow or disconnected client
/// misses nothing and delays no other client.
struct ChangeStream<Context: RequestContext> {
  let store: Store
  /// The time without events after which the stream sends a comment.
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

  /// The event for a client whose position is no longer in the history.
  private static func reset(_ now: HistoryToken) -> String {
    "event: reset\nid: \(now)\n"
      + #"data: {"detail":"Read the list anew; changes since then follow."}"# + "\n\n"
  }

  private func send(
    after place: HistoryToken, to writer: inout any ResponseBodyWriter, _ request: Request
  ) async throws {
    // One buffered pulse is enough, because the stream sends all new writes after a pulse.
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
            // The call waits until the client has received the text.
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

  /// The reason for waking a stream.
  private enum Pulse { case commit, time }

  /// Sends a pulse after each commit that changes podspecs, and one after each interval of
  /// ``heartbeat``.
  private func wake(_ pulse: AsyncStream<Pulse>.Continuation) async {
    await withTaskGroup { group in
      group.addTask {
        // The condition makes the store run the closure after each change of podspecs. The token
        // makes the value of each commit different.
        let commits = store.updates { snapshot in
          _ = try snapshot.exists(Podspec.all)
          return try snapshot.historyToken()
        }
        // An error ends the stream, and the client connects again.
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
