import Testing

@testable import KVDumpCommands

@Suite("Lines of the prompt") struct ShellLineTests {
  @Test(arguments: [
    (#"query Pod stars > 3 --sort -stars"#, ["Pod", "stars > 3", "--sort", "-stars"]),
    (#"query Pod 'stars > 3' --sort name"#, ["Pod", "stars > 3", "--sort", "name"]),
    (#"query Pod 'MIT' == license"#, ["Pod", "'MIT' == license"]),
    (#"query Pod name == "a --b" -q"#, ["Pod", #"name == "a --b""#, "-q"]),
    (#"query Pod name == 'it\'s'"#, ["Pod", #"name == 'it\'s'"#]),
    (#"count Pod -stars < 3 --by name"#, ["Pod", "--by", "name", "--", "-stars < 3"]),
    (#"count Pod --by name"#, ["Pod", "--by", "name"]),
    (#"watch"#, []),
    (#"get Pod "name=a b" c\ d 'e\'"#, ["Pod", "name=a b", "c d", #"e\"#]),
    ("# a comment", []), ("   ", []),
  ])
  func `a line has the words of a command, and a condition is one word`(
    line: String, arguments: [String]
  ) {
    #expect(ShellLine(line).arguments == arguments)
    #expect(ShellLine(line).isComplete)
  }

  @Test(arguments: [
    "query Pod name == \"a", "query Pod (a == 1", "query Pod a IN {1, 2", "query Pod a == 1 AND",
    "query Pod a ==", "query Pod NOT (b) or", "query Pod a CONTAINS[cd]", "query Pod a &&",
    "get Pod 'name=", "records Pod \\", "export Pod --where 'a ==", "count Pod a == 1 OR \n",
  ])
  func `a line goes on after an open quote, an open bracket and an operator`(line: String) {
    #expect(!ShellLine(line).isComplete)
  }

  @Test(arguments: ["query Pod band", "query Pod AND", "records Pod --fields a[0", "count Pod a)"])
  func `other lines are complete`(line: String) {
    #expect(ShellLine(line).isComplete)
  }

  @Test func `completion knows comparisons, members and the files of other commands`() async throws
  {
    let folder = try await QueriedStore.make()
    let completion = ShellCompletion(store: folder.store)
    func words(_ line: String) -> [String] {
      guard case .words(let words, _) = completion.complete(line) else { return ["FILES"] }
      return words
    }
    #expect(words("cou") == ["count"])
    #expect(words("count ") == ["Pod"])
    #expect(words("count Pod li") == ["license", "license.file", "license.type"])
    #expect(words("count Pod stars == 3 OR NOT (lic").contains("license.type"))
    #expect(words("count Pod name ").contains("CONTAINS[cd] \""))
    #expect(words("count Pod name == \"AF") == ["AFNetworking\""])
    #expect(words("count Pod stars > 3 ") == ["AND", "OR"])
    #expect(words("count Pod license.type ").contains("BEGINSWITH[cd]"))
    #expect(words("query Pod --sort na") == ["name"])
    #expect(words("query Pod --ex") == ["--exists"])
    #expect(words("plot h") == ["histogram", "history"])
    #expect(words("plot counts Pod licen").contains("license.type"))
    #expect(words("help wa") == ["watch"])
    #expect(words("compact ") == ["FILES"])
    #expect(words("nonsense ") == [])
    #expect(words("export Pod --where 'sta") == ["stars"])
  }
}
