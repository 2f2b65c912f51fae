import Lodestore
import Testing

@Suite struct `The list of podspecs` {
  @Test func `the list of podspecs is filtered by the request`() async throws {
    try await RunningServer.with { server in
      func pods(_ query: String) async throws -> [String] {
        let answer = try await server.get("/pods?\(query)")
        #expect(answer.status == 200, "\(answer.text)")
        return try answer.pods
      }
      let versions = ["2.5.4", "2.6.3", "3.2.1", "4.0.1"].map { "AFNetworking \($0)" }
      let cases = [
        "name=afn": versions, "name=afn&version=4.0.1": ["AFNetworking 4.0.1"],
        "search=alamofire%20image&limit=1": ["AlamofireImage 3.6.0"],
        "needs=Alamofire&name=moya": ["Moya 14.0.0", "Moya 15.0.0"],
        "license=MIT&name=afn": versions,
        "license=BSD&name=afn": [], "platform=tvos": [],
      ]
      for (query, expected) in cases {
        let found = try await pods(query)
        #expect(found == expected, "\(query)")
      }
    }
  }

  @Test func `the list of podspecs has consecutive pages, whatever is written meanwhile`()
    async throws
  {
    try await RunningServer.with { server in
      var path: String? = "/pods?limit=20&sort=name"
      var found: [String] = []
      while let next = path {
        let page = try await server.get(next)
        found += try page.pods
        path = try page.json["next"]?.stringValue
        #expect(page["Link"] == path.map { "<\($0)>; rel=\"next\"" })
        // The new podspec sorts before the next page, so an offset would repeat a podspec.
        let name = "A\(found.count)"
        let put = try await server.put(
          "/pods/\(name)/1", #"{"summary": "new"}"#, ["If-None-Match": "*"])
        #expect(put.status == 201)
      }
      #expect(found.count == 63 && Set(found).count == 63)
    }
  }

  @Test func `the list of podspecs is sorted by the request`() async throws {
    try await RunningServer.with { server in
      let last = try await server.get("/pods?sort=-name&limit=1")
      #expect(try last.pods.first?.hasPrefix("ZipArchive") == true)
      _ = try await server.put("/pods/New/1.0", "{}", ["If-None-Match": "*"])
      #expect(try await server.get("/pods?sort=-changed&limit=1").pods == ["New 1.0"])
    }
  }

  @Test(
    arguments: [
      ("licence=MIT", "licence", "license"), ("limit=0", "limit", "1 to 200"),
      ("limit=many", "limit", "1 to 200"), ("sort=size", "sort", "-changed"),
      ("name=", "name", "leave it out"), ("name=a&name=b", "name", "twice"),
    ])
  func `the list of podspecs refuses unknown parameters`(
    query: String, parameter: String, hint: String
  ) async throws {
    try await RunningServer.with { server in
      let answer = try await server.get("/pods?\(query)")
      #expect(answer.status == 400 && answer["Content-Type"] == "application/problem+json")
      let problem = try answer.json
      #expect(problem["parameter"]?.stringValue == parameter)
      #expect(problem["status"]?.intValue == 400)
      #expect(problem["detail"]?.stringValue?.contains(hint) == true, "\(answer.text)")
    }
  }

  @Test func `the list of podspecs refuses invalid tokens, and those of another list`() async throws
  {
    try await RunningServer.with { server in
      let next = try await server.get("/pods?limit=2").json["next"]?.stringValue ?? ""
      let token = next.split(separator: "after=").last ?? ""
      for query in ["after=nonsense", "sort=-name&after=\(token)", "license=MIT&after=\(token)"] {
        let answer = try await server.get("/pods?\(query)")
        #expect(answer.status == 400, "\(query): \(answer.text)")
        #expect(try answer.json["parameter"]?.stringValue == "after", "\(answer.text)")
      }
    }
  }
}
