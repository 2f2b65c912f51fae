import Lodestore
import PodServer
import Testing

@Suite struct `A write` {
  private let path = "/pods/Mine/1.0"

  @Test func `a write must name the version that it overwrites`() async throws {
    try await RunningServer.with { [path] server in
      #expect(try await server.put(path, "{}").status == 428)
      #expect(try await server.put(path, "{}", ["If-Match": "\"1-a-b\""]).status == 412)
      let made = try await server.put(path, #"{"summary": "1"}"#, ["If-None-Match": "*"])
      #expect(made.status == 201 && made["Location"] == path)
      #expect(try await server.put(path, "{}", ["If-None-Match": "*"]).status == 412)
      #expect(try await server.put(path, "{}").status == 428)
      let tag = try #require(made["ETag"])
      #expect(try await server.put(path, "{}", ["If-Match": "W/\(tag)"]).status == 412)
      let second = try await server.put(path, #"{"summary": "2"}"#, ["If-Match": tag])
      #expect(second.status == 200)
      let late = try await server.put(path, #"{"summary": "3"}"#, ["If-Match": tag])
      #expect(late.status == 412 && late["Content-Type"] == "application/problem+json")
      #expect(try await server.get(path).json["summary"] == "2")
      #expect(try await server.delete(path).status == 428)
      #expect(try await server.delete(path, ["If-Match": tag]).status == 412)
      let last = try #require(second["ETag"])
      #expect(try await server.delete(path, ["If-Match": last]).status == 204)
      #expect(try await server.get(path).status == 404)
      #expect(try await server.delete(path, ["If-Match": last]).status == 404)
    }
  }

  @Test func `one of two writes after equal reads succeeds`() async throws {
    try await RunningServer.with { [path] server in
      let tag = try #require(try await server.put(path, "{}", ["If-None-Match": "*"])["ETag"])
      let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
        for number in 0..<10 {
          group.addTask {
            try await server.put(path, #"{"summary": "\#(number)"}"#, ["If-Match": tag]).status
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(statuses.sorted() == [200] + [Int](repeating: 412, count: 9))
    }
  }

  @Test(
    arguments: [
      ("{", 400, ""), ("[]", 400, ""), (#"{"summary": 5}"#, 400, "/summary"),
    ])
  func `a write with a bad body is refused`(body: String, status: Int, pointer: String) async throws
  {
    try await RunningServer.with { [path] server in
      let answer = try await server.put(path, body, ["If-None-Match": "*"])
      #expect(answer.status == status, "\(answer.text)")
      #expect(try answer.json["pointer"]?.stringValue ?? "" == pointer, "\(answer.text)")
      #expect(try await server.get(path).status == 404)
    }
  }

  @Test func `a write that breaks a constraint of the model is refused, naming the constraint`()
    async throws
  {
    try await RunningServer.with { server in
      let path = "/pods/" + String(repeating: "x", count: 201) + "/1"
      let answer = try await server.put(path, "{}", ["If-None-Match": "*"])
      #expect(answer.status == 422, "\(answer.text)")
      #expect(try answer.json["violations"]?.arrayValue?.isEmpty == false, "\(answer.text)")
    }
  }

  @Test func `a delete leaves no library without podspecs and dependents`() async throws {
    try await RunningServer.with { [path] server in
      let body = #"{"dependencies": {"Nowhere/Core": ["1.0"], "Moya": []}}"#
      let made = try await server.put(path, body, ["If-None-Match": "*"])
      #expect(try await server.get("/pods/Nowhere").json["dependentCount"]?.intValue == 1)
      _ = try await server.delete(path, ["If-Match": made["ETag"] ?? ""])
      #expect(try await server.get("/pods/Nowhere").status == 404)
      #expect(try await server.get("/pods/Mine").status == 404)
      #expect(try await server.get("/pods/Moya").status == 200)
    }
  }
}
