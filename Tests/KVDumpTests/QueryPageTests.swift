import EntityStore
import Testing

@testable import KVDumpCommands

@Suite("Query pages")
struct QueryPageTests {
  /// The token of the JSON note; nil on the last page.
  private func token(_ messages: String) throws -> String? {
    let note = try JSONDocument.parsing(messages.utf8).root
    let next = try #require(note["next"])
    return next.string
  }

  @Test(arguments: [
    [], ["--sort", "stars"], ["--sort", "-stars,name[cd]"], ["--sort", "-_id"],
    ["--sort", "license.type,-version"], ["version != \"9\"", "--sort", "-tags.@count"],
  ])
  func `query pages lead to every record once, in the order of the whole result`(query: [String])
    async throws
  {
    let folder = try await QueriedStore.make()
    let arguments = query + ["--fields", "_id", "--format", "jsonl"]
    let whole = await folder.execute("query", ["Pod"] + arguments).data
    for limit in 1...6 {
      var pages = ""
      var after: String?
      var count = 0
      repeat {
        let page = await folder.execute(
          "query",
          ["Pod", "--page", "--limit", "\(limit)"] + arguments
            + (after.map { ["--after", $0] } ?? []))
        #expect(page.status == .success, "\(page.messages)")
        pages += page.data
        count += 1
        after = try token(page.messages)
      } while after != nil && count < 10
      #expect(pages == whole)
      // The last page has no token, so no request returns an empty page.
      #expect(count == (5 + limit - 1) / limit)
    }
    #expect(await folder.isSound())
  }

  @Test func `standard error shows people the token of the next page while records remain`()
    async throws
  {
    let folder = try await QueriedStore.make()
    let first = await folder.run("query", "Pod", "--limit", "4", "--page", "--fields", "_id")
    let note = "next page: --after "
    #expect(first.messages.hasPrefix(note))
    let token = String(first.messages.dropFirst(note.count).dropLast())
    let last = await folder.run(
      "query", "Pod", "--limit", "4", "--page", "--fields", "_id", "--after", token)
    #expect(last.data == "{\"_id\":5}\n")
    #expect(last.messages == "")
    let plain = await folder.run("query", "Pod", "--limit", "4", "--fields", "_id")
    #expect(plain.data == first.data)
    #expect(plain.messages == "the first 4 records; --limit 0 for all\n")
  }

  @Test func `query pages omit records that were inserted before them`() async throws {
    let folder = try await QueriedStore.make()
    let first = await folder.run(
      "query", "Pod", "--sort", "-stars", "--limit", "2", "--page", "--format", "json")
    let after = try #require(try token(first.messages))
    try await folder.load(
      #"[{"name":"New","version":"1","stars":99,"tags":[]},"#
        + #"{"name":"New","version":"2","stars":25,"tags":[]}]"#, "--entity", "Pod", name: "n.json")
    #expect(await folder.ids("--sort", "-stars", "--after", after) == "7 5 3 4")
    #expect(await folder.isSound())
  }

  @Test func `a page token continues only the query of its own condition and order`() async throws {
    let folder = try await QueriedStore.make()
    let first = await folder.run(
      "query", "Pod", "stars > 1", "--limit", "2", "--page", "--format", "json")
    let after = try #require(try token(first.messages))
    #expect(await folder.ids("stars > %@".replacing("%@", with: "1"), "--after", after) == "3 5")
    for other in [["stars > 2"], [], ["stars > 1", "--sort", "stars"]] {
      await folder.expectFailure(
        "query", ["Pod", "--after", after] + other, .usage,
        """
        kvdump: STORE: cannot continue after the token: it was made by a query with another \
        condition or order; begin again without a token

        """)
    }
    await folder.expectFailure(
      "query", ["Pod", "--after", "x\u{1b}"], .usage,
      """
      kvdump: STORE: cannot continue after the token: it is damaged; begin again without a token

      """)
  }
}
