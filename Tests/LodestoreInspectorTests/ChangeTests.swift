import EntityStore
import LodestoreJSON
import LodestoreSystem
import Synchronization
import Testing

@testable import LodestoreInspector

@Suite("Changes by pages")
struct ChangeTests {
  /// The value of the hidden item in a page.
  private func hidden(_ name: String, in page: String) throws -> String {
    let start = try #require(page.range(of: "name=\"\(name)\" value=\""))
    return String(page[start.upperBound...].prefix { $0 != "\"" })
  }

  private func team(_ teams: Teams, _ name: String) async throws -> Team? {
    try await teams.store.fetch(Team.all).first { $0.name == name }
  }

  // MARK: One record

  @Test func `a value changes after a form and a question`() async throws {
    let teams = try await Teams()
    let form = try teams.get("/Team/1/-/edit")
    #expect(form.contains("method=\"post\"") && form.contains("name=\"value.motto\""))
    let state = try hidden("state", in: form)
    let items = [
      ("state", state), ("value.name", "Red"), ("value.seats", "5"), ("value.motto", "Go"),
    ]
    let question = try teams.post("/Team/1/-/edit", items)
    #expect(
      question.contains("Nothing has changed yet. 1 record of Team would be changed in seats."))
    #expect(question.contains(">4<") && question.contains(">5<"))
    #expect(try await team(teams, "Red")?.seats == 4)
    let token = try hidden("token", in: question)
    let done = try teams.post("/-/change", [("token", token)])
    #expect(done.contains("Done: 1 record of Team was changed in seats."))
    #expect(try await team(teams, "Red")?.seats == 5)
    let write = try teams.get("/-/history/2")
    #expect(write.contains("kvdump serve"))
    // The answer is used up.
    #expect(try teams.post("/-/change", [("token", token)], 409).contains("answered already"))
  }

  @Test func `null is chosen, and a written text is no null`() async throws {
    let teams = try await Teams()
    let all = [("value.name", "Red"), ("value.seats", "4")]
    _ = try teams.post(
      "/Team/1/-/edit", all + [("value.motto", "Go"), ("null.motto", "yes")])
    #expect(
      try teams.post("/Team/1/-/edit", all + [("value.motto", "Go")], 422)
        .contains("No value differs."))
    let question = try teams.json("/Team/1/-/edit.json", #"{"motto": null}"#)
    #expect(question["values"]?[0]?["after"]?.isNull == true)
    let other = try teams.post(
      "/Team/2/-/edit",
      [
        ("value.name", "Blue"), ("value.seats", "9"), ("value.motto", "New\r\nline"),
        ("null.motto", "yes"),
      ])
    _ = try teams.post("/-/change", [("token", try hidden("token", in: other))])
    #expect(try await team(teams, "Blue")?.motto == "New\nline")
  }

  @Test func `a record that changed meanwhile is not overwritten`() async throws {
    let teams = try await Teams()
    let question = try teams.json("/Team/1/-/edit", #"{"seats": 7}"#)
    let token = try #require(question["answer"]?["token"]?.string)
    let form = try hidden("state", in: try teams.get("/Team/1/-/edit"))
    try await teams.store.write { tx in
      var red = try #require(try tx.fetch(Team.all).first { $0.name == "Red" })
      red.motto = "Stop"
      _ = try tx.update(red)
    }
    let refused = try teams.json("/-/change", "{\"token\":\"\(token)\"}", 409)
    #expect(refused["states"]?[0]?["name"]?.string == "motto")
    #expect(refused["states"]?[0]?["asked"]?.string == "Go")
    #expect(refused["states"]?[0]?["now"]?.string == "Stop")
    #expect(try await team(teams, "Red")?.seats == 4)
    let late = try teams.post(
      "/Team/1/-/edit",
      [("state", form), ("value.name", "Red"), ("value.seats", "8"), ("value.motto", "Go")], 409)
    #expect(late.contains("has changed since the form was opened"))
    #expect(late.contains("value=\"8\""))
  }

  @Test func `reasons of a refusal stand at their fields`() async throws {
    let teams = try await Teams()
    let many = try teams.json(
      "/Team/-/new", #"{"name": 5, "seats": "x", "sets": 1}"#, 422)
    let faults = try #require(many["faults"]?.elements.compactMap { $0["attribute"]?.string })
    #expect(Array(faults) == ["name", "seats", "sets"])
    let missing = try teams.json("/Team/-/new", #"{"name": "Green"}"#, 422)
    #expect(missing["faults"]?[0]?["attribute"]?.string == "seats")
    let broken = try teams.post(
      "/Team/-/new",
      [("value.name", "Red"), ("value.seats", "1"), ("value.motto", ""), ("null.motto", "yes")],
      422)
    #expect(broken.contains("record 1 has this value already"))
    #expect(broken.contains("aria-invalid=\"true\""))
    let below = try teams.json("/Team/1/-/edit", #"{"seats": -1}"#, 422)
    #expect(below["faults"]?[0]?["attribute"]?.string == "seats")
    let link = try teams.json("/Member/-/new", #"{"name": "Dan", "team": 99}"#, 422)
    #expect(link["notices"]?[0]?["message"]?.string?.contains("99") == true)
    #expect(try await teams.store.count(Team.all) == 2)
  }

  @Test func `a record is added by a form and as JSON`() async throws {
    let teams = try await Teams()
    let question = try teams.post(
      "/Team/-/new",
      [
        ("value.name", "Green"), ("value.seats", "3"), ("value.motto", ""),
        ("null.motto", "yes"),
      ])
    #expect(question.contains("1 record of Team would be added"))
    #expect(try await teams.store.count(Team.all) == 2)
    let done = try teams.post("/-/change", [("token", try hidden("token", in: question))])
    #expect(done.contains("/Team/3"))
    let green = try #require(try await team(teams, "Green"))
    #expect(green.seats == 3 && green.motto == nil)
    let member = try teams.change("/Member/-/new.json", #"{"name": "Dan", "team": 3}"#)
    #expect(member["record"]?["id"]?.int64 == 4)
    #expect(try await teams.store.fetch(Member.all).last?.team == green.id)
  }

  @Test func `the question of a delete has the records that its rules reach`() async throws {
    let teams = try await Teams()
    let question = try teams.json("/Team/1/-/delete.json")
    let message = try #require(question["notices"]?[0]?["message"]?.string)
    #expect(
      message
        == "Nothing has changed yet. 3 records of Member would be changed in team; 2 records of "
        + "Project would be deleted by delete rules; 1 record of Team would be deleted.")
    #expect(try await teams.store.count(Project.all) == 2)
    let token = try #require(question["answer"]?["token"]?.string)
    try await teams.store.write { tx in
      let red = try #require(try tx.fetch(Team.all).first { $0.name == "Red" })
      _ = try tx.insert(Project("Late", team: red.id))
    }
    let refused = try teams.json("/-/change", "{\"token\":\"\(token)\"}", 409)
    #expect(refused["states"]?[1]?["name"]?.string == "Project")
    #expect(try await teams.store.count(Team.all) == 2)
    _ = try teams.change("/Team/1/-/delete.json")
    #expect(try await teams.store.count(Team.all) == 1)
    #expect(try await teams.store.count(Project.all) == 0)
    #expect(try await teams.store.fetch(Member.all).allSatisfy { $0.team == nil })
  }

  // MARK: Links

  private func helpers(_ teams: Teams) async throws -> [UInt64] {
    try await teams.store.read { tx in
      try tx.relatedIDs(Project.helpers, of: RecordID(rawValue: 1)).map(\.rawValue)
    }
  }

  @Test func `links are added and removed by a form`() async throws {
    let teams = try await Teams()
    let address = "/Project/1/helpers/-/edit"
    #expect(try teams.get("/Project/1").contains("href=\"\(address)\""))
    #expect(try teams.get("/Project/1/helpers").contains("href=\"\(address)\""))
    #expect(try !teams.get(address).contains("Records to remove"))
    let question = try teams.post(address, [("add", "3, 1")])
    #expect(
      question.contains("Nothing has changed yet. 2 links of Project.helpers would be added."))
    #expect(question.contains(">3: Cyd<") && question.contains(">not linked<"))
    #expect(try await helpers(teams).isEmpty)
    let done = try teams.post("/-/change", [("token", try hidden("token", in: question))])
    #expect(done.contains("Done: 2 links of Project.helpers were added."))
    #expect(try await helpers(teams) == [3, 1])
    let form = try teams.get(address)
    #expect(form.contains("name=\"remove.3\"") && form.contains("1: Ada"))
    let both = try teams.post(address, [("remove.3", "yes"), ("add", "2")])
    #expect(
      both.contains("1 link of Project.helpers would be added; 1 link of Project.helpers would be"))
    _ = try teams.post("/-/change", [("token", try hidden("token", in: both))])
    #expect(try await helpers(teams) == [1, 2])
    await teams.verify()
  }

  @Test func `a record that gets another owner is named with its former one`() async throws {
    let teams = try await Teams()
    let question = try teams.json("/Team/2/members/-/edit.json", #"{"add": [1, 2]}"#)
    #expect(
      question["notices"]?[0]?["message"]?.string
        == "Nothing has changed yet. 2 records of Member would be changed in team.")
    #expect(question["values"]?[0]?["before"]?.string == "linked with Team 1")
    let token = try #require(question["answer"]?["token"]?.string)
    try await teams.store.write { tx in
      _ = try tx.remove(RecordID(rawValue: 2), from: Team.members, of: RecordID(rawValue: 1))
    }
    let refused = try teams.json("/-/change.json", "{\"token\":\"\(token)\"}", 409)
    #expect(refused["states"]?[0]?["name"]?.string == "Member 2")
    #expect(refused["states"]?[0]?["now"]?.string == "not linked")
    #expect(refused["states"]?[1] == nil)
    _ = try teams.change("/Team/2/members/-/edit.json", #"{"add": [1, 2]}"#)
    let teamOf = try await teams.store.fetch(Member.all).map { $0.team?.rawValue }
    #expect(teamOf == [2, 2, 1])
    _ = try teams.change("/Team/2/members/-/edit.json", #"{"remove": [1]}"#)
    #expect(try await teams.store.fetch(Member.all).first?.team == nil)
    await teams.verify()
  }

  @Test func `links that cannot change are refused with all reasons at their fields`() async throws
  {
    let teams = try await Teams()
    for (body, reasons) in [
      (#"{"add": [1, 9, "x", 9]}"#, ["'x' is no id", "Member 1 is linked already", "no record 9"]),
      (#"{"remove": [7]}"#, ["Member 7 is not linked"]),
      (#"{"add": [1], "remove": [1]}"#, ["Member 1 would be added and removed"]),
    ] {
      let refused = try teams.json("/Team/1/members/-/edit.json", body, 422)
      let found = try #require(refused["faults"]?.elements.compactMap { $0["reason"]?.string })
      #expect(found.count == reasons.count, "\(found)")
      for (text, reason) in zip(found, reasons) { #expect(text.contains(reason)) }
    }
    let form = try teams.post("/Team/1/members/-/edit", [("add", "9"), ("remove.2", "yes")], 422)
    #expect(form.contains("value=\"9\"") && form.contains("aria-invalid=\"true\""))
    #expect(form.contains("name=\"remove.2\" value=\"yes\" checked"))
    #expect(
      try teams.json("/Team/1/members/-/edit.json", "{}", 422)["notices"]?[0]?["message"]?.string
        == "No link would change: no record was chosen.")
    // The attribute of a project's team is never null.
    let required = try teams.json("/Team/1/projects/-/edit.json", #"{"remove": [1]}"#, 422)
    #expect(required["notices"]?[0]?["message"]?.string?.contains("team") == true)
    for address in ["/Team/1/sets/-/edit", "/Member/1/team/-/edit", "/Team/9/members/-/edit"] {
      _ = try teams.json(address, #"{"add": [1]}"#, 404)
      _ = try teams.get(address, 404)
    }
  }

  // MARK: Many records

  @Test func `all selected records are changed or deleted`() async throws {
    let teams = try await Teams()
    let question = try teams.post(
      "/Team/-/update?_where=seats%20%3E%201",
      [("assign", "seats:=seats * 2\r\nmotto=Same")])
    #expect(question.contains("2 records of Team would be changed in seats, motto"))
    _ = try teams.post("/-/change", [("token", try hidden("token", in: question))])
    #expect(try await teams.store.fetch(Team.all).map(\.seats) == [8, 18])
    for (text, reason) in [
      ("", "has no assignment"), ("seats", "is no assignment"), ("seat=1", "did you mean"),
      ("seats=x", "must be an integer"), ("seats=1\nseats=2", "set twice"),
      ("seats:=1 +", "cannot be parsed"), ("seats=-1", "seats"),
    ] {
      let refused = try teams.post("/Team/-/update", [("assign", text)], 422)
      #expect(refused.contains(reason), "\(text)")
    }
    let none = try teams.json("/Team/-/delete.json?name=Pink", "{}", 422)
    #expect(none["notices"]?[0]?["message"]?.string == "No record is selected.")
    let asked = try teams.json("/Member/-/delete.json?_where=name%20%3E%20%22A%22")
    let token = try #require(asked["answer"]?["token"]?.string)
    try await teams.store.write { tx in
      var ada = try #require(try tx.fetch(Member.all).first { $0.name == "Ada" })
      ada.name = "Eve"
      _ = try tx.update(ada)
    }
    let refused = try teams.json("/-/change", "{\"token\":\"\(token)\"}", 409)
    #expect(refused["states"]?[1]?["now"]?.string == "changed")
    _ = try teams.change("/Member/-/delete.json?_where=name%20%3E%20%22A%22")
    #expect(try await teams.store.count(Member.all) == 0)
  }

  @Test func `a write is undone from its page`() async throws {
    let teams = try await Teams()
    _ = try teams.change("/Team/1/-/delete.json")
    #expect(try teams.get("/-/history/2").contains("action=\"/-/history/2/-/undo\""))
    let question = try teams.json("/-/history/2/-/undo.json")
    #expect(
      question["notices"]?[0]?["message"]?.string?.contains("1 record of Team would be added")
        == true)
    _ = try teams.change("/-/history/2/-/undo.json")
    #expect(try await teams.store.fetch(Project.all).count == 2)
    #expect(try await teams.store.fetch(Member.all).allSatisfy { $0.team != nil })
    let again = try teams.json("/-/history/2/-/undo.json", "{}", 422)
    #expect(again["notices"]?[0]?["message"]?.string != nil)
    _ = try teams.json("/-/history/99/-/undo.json", "{}", 404)
  }

  // MARK: Limits

  @Test func `a server that only reads has no form and no change`() async throws {
    let teams = try await Teams()
    let reading = Responder(
      maker: PageMaker(store: DynamicStore(teams.store), path: teams.store.path))
    for address in [
      "/Team/-/new", "/Team/1/-/edit", "/Team/1/-/delete", "/Team/1/members/-/edit", "/-/change",
    ] {
      let response = reading.respond(to: try #require(Address(address)))
      #expect(response.status == 404)
      #expect(String(decoding: response.body.bytes, as: UTF8.self).contains("--write"))
    }
    for address in ["/Team", "/Team/1", "/-/history/1"] {
      let response = reading.respond(to: try #require(Address(address)))
      let page = String(decoding: response.body.bytes, as: UTF8.self)
      #expect(!page.contains("method=\"post\"") && page.contains("Read-only."))
    }
    #expect(try teams.get("/Team/1").contains("method=\"post\""))
  }

  @Test func `bad bodies and tokens are refused in words`() async throws {
    let teams = try await Teams()
    _ = try teams.json("/Team/-/new", "[1]", 400)
    _ = try teams.json("/Team/-/new", "{", 400)
    _ = try teams.json("/-/change", "{}", 400)
    _ = try teams.json("/-/change", #"{"token":"0123"}"#, 409)
    _ = try teams.json("/Pod/-/new", "{}", 404)
    _ = try teams.json("/Team/77/-/edit", #"{"seats": 1}"#, 404)
    _ = try teams.post("/Team", [], 405)
    _ = try teams.get("/-/change", 404)
    _ = try teams.get("/Team/-/new.csv", 404)
  }

  #if os(Linux)
    @Test func `a change waits for the writer of another process, and then says so`() async throws {
      let teams = try await Teams()
      let store = DynamicStore(teams.store)
      let done = Flag()
      let (began, begin) = AsyncStream.makeStream(of: Void.self)
      async let writing: Void = ReadingThreads().run {
        try store.write { _ in
          begin.yield()
          while !done.isSet.load(ordering: .acquiring) { usleep(10_000) }
        }
      }
      for await _ in began { break }
      await #expect(processExitsWith: .success) { [path = teams.store.path as String] in
        var options = StoreOptions()
        options.access = .existing
        options.writeWaitLimit = .milliseconds(200)
        let store = try DynamicStore(path: path, options: options)
        let desk = ChangeDesk(PageMaker(store: store, path: path))
        let (page, status) = try desk.page(
          .delete("Team", 1), Request("/Team/1/-/delete", method: "POST"), as: .html)
        let text = String(decoding: PageDocument(page).bytes, as: UTF8.self)
        guard status == 503, text.contains("process ") else { fatalError("\(status): \(text)") }
      }
      done.isSet.store(true, ordering: .releasing)
      try await writing
      _ = try teams.json("/Team/1/-/delete.json")
    }
  #endif

  @Test func `only the last questions stay open`() async throws {
    let teams = try await Teams()
    let desk = ChangeDesk(
      teams.responder.maker, limits: ChangeDesk.Limits(questions: 2, time: .seconds(60)))
    func ask() throws -> String {
      var request = Request("/Team/1/-/delete", method: "POST")
      request.contentType = "application/json"
      request.body = Array("{}".utf8)
      let (page, status) = try desk.page(.delete("Team", 1), request, as: .json)
      #expect(status == 200)
      let text = String(decoding: TwinPart.of(page, as: .json).bytes, as: UTF8.self)
      return try #require(
        try JSONDocument.parsing(text.utf8).root["answer"]?["token"]?.string)
    }
    let tokens = try (0..<3).map { _ in try ask() }
    func answer(_ token: String) throws -> Int {
      var request = Request("/-/change", method: "POST")
      request.contentType = "application/json"
      request.body = Array("{\"token\":\"\(token)\"}".utf8)
      return try desk.page(.confirm, request, as: .json).status
    }
    #expect(try answer(tokens[0]) == 409)
    #expect(try answer(tokens[2]) == 200)
  }

  @Test func `a text keeps all its characters in a form`() async throws {
    let teams = try await Teams()
    let motto = "\n<b>&amp; \"quoted\" \u{200B}\u{85}\u{202E}</textarea>"
    try await teams.store.write { tx in
      var red = try #require(try tx.fetch(Team.all).first { $0.name == "Red" })
      red.motto = motto
      _ = try tx.update(red)
    }
    let form = try teams.get("/Team/1/-/edit")
    #expect(!form.contains("<b>"))
    #expect(form.contains(">\n&#x000A;&lt;b&gt;&amp;amp; &quot;quoted&quot; "))
    #expect(form.contains("\u{85}&#x202E;&lt;/textarea&gt;</textarea>"))
  }
}

private final class Flag: Sendable {
  let isSet = Atomic(false)
}
