import Lodestore
import Testing

@Suite struct `The status` {
  @Test func `the status reports that the server is well`() async throws {
    try await RunningServer.with { server in
      let health = try await server.get("/health").json
      #expect(health["status"] == "ok" && health["podspecs"]?.intValue == 63)
    }
  }

  @Test func `the status is counted in the form that Prometheus reads`() async throws {
    try await RunningServer.with { server in
      _ = try await server.get("/pods?limit=1")
      _ = try await server.get("/pods?nonsense=1")
      let answer = try await server.get("/metrics")
      #expect(answer["Content-Type"]?.hasPrefix("text/plain") == true)
      let lines = answer.text.split(separator: "\n").map(String.init)
      func value(_ start: String) -> Double? {
        lines.first { $0.hasPrefix(start) }?.split(separator: " ").last.flatMap { Double($0) }
      }
      let labels = "http_route=\"/pods\",http_request_method=\"GET\""
      #expect(value("hb_requests_total{\(labels),http_response_status_code=\"200\"}") ?? 0 >= 1)
      #expect(value("hb_requests_total{\(labels),http_response_status_code=\"400\"}") ?? 0 >= 1)
      #expect(value("http_server_request_duration_seconds_count{\(labels)") ?? 0 >= 1)
      #expect(value("pods_store_podspecs ") == 63)
      #expect(value("pods_store_file_bytes ") ?? 0 > 0)
      #expect(value("pods_store_readers ") != nil && value("pods_store_writes ") ?? 0 >= 1)
      // Each line is a comment, or a name with labels and a number.
      let form = /# TYPE [a-z_]+ (counter|gauge|histogram)|[a-z_]+(\{.*\})? [-+0-9.einfa]+/
      for line in lines { #expect(line.wholeMatch(of: form) != nil, "\(line)") }
    }
  }
}
