import Lodestore
import Testing

@Suite struct `A podspec` {
  @Test func `a podspec is read by name and version, and leads to its dependencies`() async throws {
    try await RunningServer.with { server in
      let answer = try await server.get("/pods/Moya/15.0.0")
      #expect(answer.status == 200 && answer["Content-Type"] == "application/json")
      let moya = try answer.json
      #expect(moya["name"] == "Moya" && moya["license"] == "MIT")
      let links = try #require(moya[path: "links.dependencies"]?.arrayValue)
      #expect(links == ["/pods/Alamofire", "/pods/RxSwift"])
      let alamofire = try await server.get(links[0].stringValue ?? "").json
      #expect(alamofire["dependentCount"]?.intValue == 4)
      #expect(alamofire[path: "versions.0.version"] == "5.10.2")
      #expect(alamofire[path: "versions.0.href"] == "/pods/Alamofire/5.10.2")
      let dependents = alamofire[path: "links.dependents"]?.stringValue ?? ""
      #expect(try await server.get(dependents).pods.contains("Moya 15.0.0"))
    }
  }

  @Test func `a podspec is not sent again to a client with its current tag`() async throws {
    try await RunningServer.with { server in
      for path in ["/pods/Moya/15.0.0", "/pods/Moya", "/pods?limit=3"] {
        let first = try await server.get(path)
        let tag = try #require(first["ETag"])
        let again = try await server.get(path, ["If-None-Match": "\"other\", W/\(tag)"])
        #expect(again.status == 304 && again.text.isEmpty && again["ETag"] == tag)
        #expect(try await server.get(path, ["If-None-Match": "\"other\""]).text == first.text)
      }
      #expect(try await server.get("/pods/Moya/15.0.0")["Last-Modified"]?.hasSuffix("GMT") == true)
    }
  }

  @Test func `a podspec has another tag exactly if it has changed`() async throws {
    try await RunningServer.with { server in
      let before = try await server.get("/pods/Moya/15.0.0")
      let tag = try #require(before["ETag"])
      let list = try #require(try await server.get("/pods")["ETag"])
      _ = try await server.put("/pods/Other/1", "{}", ["If-None-Match": "*"])
      #expect(try await server.get("/pods/Moya/15.0.0")["ETag"] == tag)
      #expect(try await server.get("/pods", ["If-None-Match": list]).status == 200)
      // A client can send back the answer without changes.
      let put = try await server.put("/pods/Moya/15.0.0", before.text, ["If-Match": tag])
      #expect(put.status == 200 && put["ETag"] == tag, "\(put.text)")
      let changed = try await server.put(
        "/pods/Moya/15.0.0", #"{"summary": "x", "dependencies": {"Result": []}}"#, ["If-Match": tag]
      )
      #expect(changed.status == 200 && changed["ETag"] != tag)
      #expect(try changed.json[path: "links.dependencies"] == ["/pods/Result"])
      #expect(try await server.get("/pods/Moya/15.0.0")["ETag"] == changed["ETag"])
    }
  }

  @Test func `a missing podspec is a problem that names the list`() async throws {
    try await RunningServer.with { server in
      for path in ["/pods/Nothing", "/pods/Moya/99", "/elsewhere", "/pods/Moya/15.0.0/more"] {
        let answer = try await server.get(path)
        #expect(
          answer.status == 404 && answer["Content-Type"] == "application/problem+json", "\(path)")
        #expect(try answer.json["detail"]?.stringValue?.contains("/pods") == true)
      }
    }
  }

  @Test func `a podspec has a name of any letters`() async throws {
    try await RunningServer.with { server in
      let put = try await server.put("/pods/a%2Fb%20%C3%A9%2B/1%3F", "{}", ["If-None-Match": "*"])
      #expect(put.status == 201)
      let location = try #require(put["Location"])
      #expect(try await server.get(location).json["name"] == "a/b é+")
      #expect(try await server.get("/pods?name=A%2FB%20%C3%89").pods == ["a/b é+ 1?"])
    }
  }
}
