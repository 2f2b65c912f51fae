#if Datasets
  import EntityStore
  import Foundation
  import Synchronization
  import Testing

  @testable import LodestoreReplicas

  /// Lag, bytes and requests come out of the hooks of the options and of the status.
  @Suite("Metrics of replicas")
  struct MetricTests {
    private func value(_ name: String, _ metrics: [ReplicaMetric]) throws -> Double {
      try #require(metrics.first { $0.name == "lodestore.replica.\(name)" }, "\(name)").value
    }

    @Test func `A writer and a follower report lag, bytes and requests`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let reported = Mutex<[ReplicaMetric]>([])
      let writer = try await fixture.writer(store) {
        $0.onStatus = { status in reported.withLock { $0 = status.metrics } }
      }
      try ReplicaFixture.write(1...6, to: store)
      try await writer.flush()
      let follower = try await fixture.follower()
      try await follower.catchUp()
      let (sent, received) = (writer.status.metrics, follower.status.metrics())
      #expect(try value("writer.lag.writes", sent) == 0)
      #expect(try value("writer.requests.write", sent) >= 4)
      #expect(try value("writer.sent.bytes", sent) >= value("writer.entry.bytes", sent))
      #expect(try value("follower.lag.seconds", received) < 60)
      #expect(try value("follower.requests.read", received) >= 4)
      #expect(try value("follower.received.bytes", received) > 0)
      #expect(try value("follower.slot", received) == value("writer.slot", sent))
      #expect(Set(sent.map(\.name)).count == sent.count)
      #expect(Set(received.map(\.name)).count == received.count)
      try await writer.stop()
      await follower.stop()
      #expect(try reported.withLock { try value("writer.running", $0) } == 0)
      #expect(try value("follower.running", follower.status.metrics()) == 0)
    }

    @Test func `A storage that fails is reported before any call gives up`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let failures = Mutex(0)
      let writer = try await fixture.writer(store) {
        $0.onStatus = { status in
          if status.lastFailure != nil { failures.withLock { $0 += 1 } }
        }
      }
      try ReplicaFixture.write(1...3, to: store)
      try await writer.flush()
      let away = fixture.path("away")
      try FileManager.default.moveItem(atPath: fixture.bucketPath, toPath: away)
      try ReplicaFixture.write(4...6, to: store)
      for _ in 0..<3_000 where writer.status.lastFailure == nil {
        try await Task.sleep(for: .milliseconds(10))
      }
      #expect(writer.status.lastFailure?.code == .storage)
      #expect(try value("writer.failing", writer.status.metrics) == 1)
      #expect(try value("writer.lag.seconds", writer.status.metrics) > 0)
      #expect(try value("writer.requests.failed", writer.status.metrics) >= 1)
      #expect(failures.withLock { $0 } >= 1)
      try FileManager.default.moveItem(atPath: away, toPath: fixture.bucketPath)
      try await writer.flush()
      #expect(writer.status.lastFailure == nil && writer.status.lagInWrites == 0)
      try await writer.stop()
    }

    @Test func `A registered follower reports its place at intervals`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let writer = try await fixture.writer(store)
      try ReplicaFixture.write(1...3, to: store)
      try await writer.flush()
      let rare = try await fixture.follower("rare") {
        $0.id = "rare"
        $0.reportInterval = .seconds(86_400)
      }
      let often = try await fixture.follower("often") {
        $0.id = "often"
        $0.reportInterval = .zero
      }
      for round in 4...8 {
        for follower in [rare, often] { try await follower.catchUp() }
        try ReplicaFixture.write(round...round, to: store)
        try await writer.flush()
      }
      #expect(rare.status.traffic.writes == 1 && often.status.traffic.writes == 5)
      for follower in [rare, often] { await follower.stop() }
      try await writer.stop()
    }

    @Test func `Each metric has a help of one line`() async throws {
      let fixture = try ReplicaFixture()
      let writer = try await fixture.writer(try fixture.store())
      try await writer.flush()
      let follower = try await fixture.follower()
      try await follower.catchUp()
      let metrics = writer.status.metrics + follower.status.metrics()
      #expect(metrics.count > 20)
      for metric in metrics {
        #expect(metric.help.hasSuffix(".") && !metric.help.contains("\n"), "\(metric.name)")
        #expect(!metric.help.contains("\\"), "\(metric.name)")
      }
      await follower.stop()
      try await writer.stop()
    }

    @Test func `Metrics have the form of Prometheus`() {
      let text = ReplicaMetric.prometheusText([
        ReplicaMetric("writer.lag.seconds", .gauge, 1.5, "Age of the oldest commit."),
        ReplicaMetric("writer.sent.bytes", .counter, 7, "Bytes that were sent."),
      ])
      #expect(
        text == """
          # HELP lodestore_replica_writer_lag_seconds Age of the oldest commit.
          # TYPE lodestore_replica_writer_lag_seconds gauge
          lodestore_replica_writer_lag_seconds 1.5
          # HELP lodestore_replica_writer_sent_bytes_total Bytes that were sent.
          # TYPE lodestore_replica_writer_sent_bytes_total counter
          lodestore_replica_writer_sent_bytes_total 7

          """)
    }
  }
#endif
