/// The queries of the battery, for `count` sightings and a tenth as many broad records.
struct Battery {
  let count: Int
  var queries: [BatteryQuery] = []

  let id = BatteryField("_id")
  let key = BatteryField("key")
  let seq = BatteryField("seq")
  let ts = BatteryField("ts")
  let rnd = BatteryField("rnd")
  let corr = BatteryField("corr")
  let skew = BatteryField("skew")
  let low = BatteryField("low")
  let state = BatteryField("state")
  let nul = BatteryField("nul")
  let score = BatteryField("score")
  let cat = BatteryField("cat")
  let name = BatteryField("name")
  let flag = BatteryField("flag")
  let noidx = BatteryField("noidx")
  let amount = BatteryField("amount")
  let text = BatteryField("text")

  /// - Parameter count: of the sightings.
  init(count: Int) {
    self.count = count
    addPoints()
    addRanges()
    addLists()
    addTexts()
    addNulls()
    addDisjunctions()
    addConjunctions()
    addOrders()
    addPages()
    addCounts()
    addGroups()
    addValues()
    addExpressions()
    addBroad()
  }

  /// Returns that share of the number of records.
  func part(_ share: Double) -> BatteryLiteral { .int(Int(share * Double(count))) }
  private func at(_ share: Double) -> Int { Int(share * Double(count)) }

  mutating func add(
    _ answer: BatteryQuery.Answer = .rows, _ condition: BatteryCondition = .all([]),
    order: String = "", limit: Int? = nil, offset: Int = 0
  ) {
    queries.append(
      BatteryQuery(answer, condition, order: order, limit: limit, offset: offset))
  }

  // MARK: Conditions

  private mutating func addPoints() {
    let some = Sighting.numbered(count / 3, of: count)
    add(.rows, key == .text(some.key))
    add(.ids, key == "no such key")
    add(.rows, seq == part(0.4))
    add(.rows, id == part(0.6))
    add(.rows, rnd == .int(some.rnd))
    add(.rows, rnd == .int(some.rnd), limit: 1)
    add(.rows, cat == "c500")
    add(.ids, cat == "c500")
    add(.rows, cat == "c500" && rnd == 77)
    add(.rows, skew == 1, limit: 10)
    add(.rows, skew == 300)
    add(.rows, corr == 0, limit: 20)
    add(.rows, low == "void", limit: 10)
    add(.rows, state == "pending")
    add(.rows, state == "pending", limit: 10)
    add(.rows, state == "pending", order: "-seq", limit: 10)
    add(.rows, state == "none")
    add(.rows, flag == true && amount == 17.25)
    add(.rows, amount == 17.25)
    add(.rows, noidx == 12)
    add(.rows, noidx == 12, limit: 1)
  }

  private mutating func addRanges() {
    add(.rows, seq >= part(0.99))
    add(.rows, seq >= part(0.99), limit: 10)
    add(.rows, seq.isIn(at(0.5)...at(0.5) + 99))
    add(.rows, rnd.isIn(at(0.5)...at(0.501)))
    add(.ids, rnd.isIn(at(0.5)...at(0.55)))
    add(.rows, rnd < part(0.03))
    add(.rows, rnd < part(0.5), limit: 100)
    add(.rows, id > part(0.5), limit: 10)
    add(.rows, id > part(0.9))
    add(.rows, id >= part(0.5) && id < part(0.51))
    add(.ids, id > part(0.999))
    add(.rows, skew > 1_000)
    add(.rows, skew >= 4, limit: 10)
    add(.rows, skew > 100 && skew < 110)
    add(.rows, skew > 100 && skew > 2_000 && skew < 3_000)
    add(.rows, score > 995.0)
    add(.rows, low == "draft" && ts.isIn(at(5)...at(5.1)))
    add(.rows, low.isIn(["draft", "void"]) && ts.isIn(at(5)...at(5.1)))
    add(.rows, cat >= "c995" && cat < "c999")
    add(.rows, cat == "c500" && rnd > part(0.5))
    add(.rows, rnd > 10 && rnd < 5)
    add(.rows, !(rnd >= part(0.002)))
    add(.rows, !(rnd < part(0.2) || rnd > part(0.205)))
    add(.rows, rnd != 5, limit: 10)
  }

  private mutating func addLists() {
    add(.rows, rnd.isIn((0..<50).map { .int($0 * (count / 60)) }))
    add(.rows, rnd.isIn((0..<1_000).map { .int($0 * 97 % count) }))
    add(.rows, noidx.isIn((0..<100).map { .int($0 * 97 % count) }))
    add(.ids, cat.isIn(["c001", "c100", "c900", "none"]))
    add(.rows, cat.isIn(["c001", "c100"]) && rnd < part(0.1))
    add(.rows, id.isIn((1...200).map { .int($0 * (count / 201)) }))
    add(.rows, id.isIn((1...200).map { .int($0 * (count / 201)) }) && flag == true)
    add(.rows, low.isIn(["void", "open"]), limit: 20)
    add(.rows, key.isIn((0..<20).map { .text(Sighting.numbered($0 * 31, of: count).key) }))
    add(.rows, seq.isIn((0..<100).map { .int($0) }), order: "-seq", limit: 5)
  }

  private mutating func addTexts() {
    add(.rows, name.begins("name 00000"))
    add(.rows, name.begins("name "), limit: 10)
    add(.ids, name.begins("name 000001"))
    add(.rows, name.like("name 000012*"))
    add(.rows, name.like("name 000012*7"))
    add(.rows, name.matches("name 000012.*", glob: "name 000012*"))
    add(.rows, name.like("*99"))
    add(.ids, name.contains("0777"))
    add(.rows, cat.begins("c99"))
    add(.rows, cat.begins("c99") && rnd < part(0.2))
    add(.rows, text.contains("\(Sighting.words[3]) \(Sighting.words[4])"))
    add(.rows, text.begins(Sighting.words[5]))
    add(.rows, text.like("*\(Sighting.words[8])*\(Sighting.words[9])*"))
    add(.rows, text.contains(Sighting.words[6]), limit: 5)
    add(.rows, text.contains("QQ") && cat == "c123")
    add(.rows, key.begins("f00"))
    add(.rows, state.begins("p"))
  }

  private mutating func addNulls() {
    add(.rows, nul == 17)
    add(.rows, nul.isNotNull, limit: 10)
    add(.ids, nul.isNotNull)
    add(.rows, nul.isNull, limit: 10)
    add(.count, nul.isNull)
    add(.rows, nul < part(0.01))
    add(.rows, nul.isNotNull && rnd < part(0.01))
    add(.rows, nul.isNull && cat == "c007")
    add(.rows, score.isNull && seq.isIn(at(0.2)...at(0.201)))
    add(.rows, nul.isNotNull, order: "nul", limit: 10)
    add(.rows, order: "nul", limit: 10)
    add(.rows, order: "-nul", limit: 10)
    add(.rows, order: "score,seq", limit: 10)
    add(.rows, score.isNotNull, order: "score", limit: 50)
    add(.rows, score != 3.5, order: "-score", limit: 10)
  }

  private mutating func addDisjunctions() {
    add(.rows, ts == .int(at(0.7) * 10) || name.like("name 00002*1"), limit: 10)
    add(.rows, low == "active" && !(seq < part(0.5) || seq > part(0.52)), limit: 10)
    add(.rows, seq == 5 || rnd == 5)
    add(.rows, seq < 50 || seq >= part(0.9999))
    add(.rows, rnd == 1 || rnd == 2 || rnd == 3)
    add(.rows, cat == "c001" || nul == 3 || seq == 9)
    add(.rows, id == 5 || seq == part(0.5))
    add(.rows, id < 10 || id > part(0.9999))
    add(.rows, (cat == "c001" && rnd < part(0.1)) || (cat == "c002" && rnd > part(0.9)))
    add(.rows, (low == "void" && ts < 5_000) || (low == "void" && ts > part(9.99)))
    add(.rows, seq == 5 || noidx == 5)
    add(.count, cat == "c001" || cat == "c002" || cat == "c003")
    add(.rows, (cat == "c001" || cat == "c002") && (rnd < part(0.01) || rnd > part(0.99)))
    add(.rows, rnd < part(0.001) || rnd > part(0.999), order: "rnd", limit: 10)
    add(.rows, .any((0..<900).map { rnd == .int($0 * 41) }))
    add(
      .rows,
      .any((0..<300).map { cat == .text("c\(Sighting.padded($0, to: 3))") && rnd == .int($0) }))
    add(.ids, state == "pending" || skew > 10_000)
  }

  private mutating func addConjunctions() {
    add(.rows, cat == "c042" && low == "open")
    add(.rows, cat == "c042" && low == "void" && flag == true)
    add(.rows, rnd < part(0.05) && seq < part(0.05))
    add(.rows, rnd < part(0.01) && corr < 5)
    add(.rows, corr == 3 && rnd.isIn(3_000...3_100))
    add(.rows, corr == 1 && rnd > part(0.5))
    add(.rows, seq > part(0.9) && ts < part(9.01))
    add(.rows, seq < part(0.5) && ts > part(4.99))
    add(.rows, skew > 50 && low == "void")
    add(.rows, low == "active" && skew == 1, limit: 10)
    add(.rows, low == "active" && noidx < 100)
    add(.rows, flag == true && amount > 3_990.0)
    add(.rows, flag == true && state == "pending")
    add(.rows, amount < 5.0 && cat == "c001")
    add(.rows, seq >= part(0.98) && noidx.isIn(0...999), limit: 3)
    add(.rows, rnd.isIn(at(0.3)...at(0.32)) && text.contains(Sighting.words[11]))
    add(.ids, cat.isIn(["c010", "c011", "c012"]) && rnd.isIn(at(0.4)...at(0.6)))
  }

  // MARK: Orders

  private mutating func addOrders() {
    add(.rows, order: "ts", limit: 10)
    add(.rows, order: "-ts", limit: 10)
    add(.rows, order: "ts,key", limit: 10)
    add(.rows, order: "-rnd,seq", limit: 10)
    add(.rows, order: "cat", limit: 10)
    add(.rows, order: "-cat", limit: 10)
    add(.rows, order: "cat,rnd", limit: 10)
    add(.rows, order: "cat,-rnd", limit: 10)
    add(.rows, order: "low,ts", limit: 10)
    add(.rows, order: "low,-ts", limit: 10)
    add(.rows, order: "noidx", limit: 10)
    add(.rows, order: "-amount,seq", limit: 10)
    add(.rows, order: "skew,rnd", limit: 10)
    add(.rows, order: "-skew,rnd", limit: 10)
    add(.rows, cat >= "c500", order: "cat", limit: 10)
    add(.rows, cat == "c500", order: "rnd", limit: 10)
    add(.rows, cat == "c500", order: "-rnd", limit: 10)
    add(.rows, cat == "c500", order: "ts", limit: 10)
    add(.rows, low == "draft", order: "-ts", limit: 10)
    add(.rows, low == "draft", order: "seq", limit: 10)
    add(.rows, low == "void" && noidx > part(0.5), order: "ts", limit: 10)
    add(.rows, rnd > part(0.7), order: "rnd", limit: 10)
    add(.rows, rnd > part(0.7), order: "-seq", limit: 10)
    add(.rows, rnd < part(0.001), order: "-seq", limit: 10)
    add(.rows, seq < part(0.02), order: "rnd", limit: 10)
    add(.rows, corr > 2, order: "rnd", limit: 10)
    add(.rows, corr == 2, order: "-rnd", limit: 10)
    add(.rows, flag == true, order: "amount", limit: 10)
    add(.rows, flag == true, order: "ts", limit: 20)
    add(.rows, state == "pending", order: "ts", limit: 20)
    add(.rows, state == "pending", order: "rnd", limit: 20)
    add(.rows, noidx < 200, order: "ts", limit: 10)
    add(.rows, order: "-key", limit: 5)
    add(.ids, order: "rnd", limit: 1_000)
    add(.rows, rnd.isIn(at(0.2)...at(0.21)), order: "rnd")
    add(.rows, cat == "c321", order: "noidx")
    add(.rows, id > part(0.99), order: "-seq", limit: 10)
    add(.rows, low.isIn(["open", "void"]), order: "-ts", limit: 10)
    add(.rows, cat.isIn(["c001", "c002", "c003"]), order: "rnd", limit: 10)
    add(.rows, seq > part(0.99) && state == "done", order: "ts", limit: 10)
  }

  private mutating func addPages() {
    add(.rows, limit: 10, offset: count / 2)
    add(.rows, order: "rnd", limit: 10, offset: count / 10)
    add(.ids, order: "rnd", limit: 10, offset: count / 10)
    add(.rows, cat == "c100", limit: 5, offset: 30)
    add(.rows, rnd > part(0.5), order: "rnd", limit: 10, offset: 1_000)
    add(.rows, low == "void", order: "ts", limit: 10, offset: 500)
    add(.rows, seq >= part(0.2), limit: 10, offset: 200)
    add(.rows, state == "pending", limit: 5, offset: 5)
  }

  // MARK: Numbers

  private mutating func addCounts() {
    add(.count)
    add(.count, rnd < part(0.5))
    add(.count, rnd < part(0.01))
    add(.count, low == "active")
    add(.count, low != "active")
    add(.count, cat == "c500" && rnd < part(0.5))
    add(.count, cat == "c500" && noidx < part(0.5))
    add(.count, rnd < part(0.1) && seq < part(0.1))
    add(.count, flag == true)
    add(.count, flag == true && amount > 2_000.0)
    add(.count, noidx < part(0.5))
    add(.count, skew > 3)
    add(.count, id > part(0.5))
    add(.count, score.isNotNull)
    add(.count, name.begins("name 0001"))
    add(.count, text.contains(Sighting.words[1]))
    add(.count, low.isIn(["open", "void"]))
    add(.count, low == "draft" && ts > part(5))
  }

  private mutating func addGroups() {
    add(.groups("low", sum: nil))
    add(.groups("low", sum: "ts"))
    add(.groups("low", sum: "noidx"))
    add(.groups("state", sum: nil))
    add(.groups("cat", sum: nil))
    add(.groups("cat", sum: "rnd"))
    add(.groups("cat", sum: "noidx"))
    add(.groups("corr", sum: nil))
    add(.groups("skew", sum: nil))
    add(.groups("flag", sum: "seq"))
    add(.groups("rnd", sum: nil))
    add(.groups("noidx", sum: nil))
    add(.groups("noidx", sum: "seq"))
    add(.groups("nul", sum: nil))
    add(.groups("score", sum: nil))
    add(.groups("cat", sum: nil), rnd < part(0.01))
    add(.groups("low", sum: nil), cat == "c700")
    add(.groups("low", sum: "seq"), seq >= part(0.99))
    add(.groups("cat", sum: nil), cat >= "c990")
    add(.groups("rnd", sum: nil), cat == "c001")
  }

  private mutating func addValues() {
    for name in ["low", "state", "cat", "flag", "skew", "corr"] { add(.distinct(name)) }
    add(.distinct("low"), seq < part(0.01))
    add(.distinct("rnd"), cat == "c001")
    add(.distinct("cat"), cat.begins("c9"))
    add(.distinct("low"), state == "pending")
    add(.distinct("nul"))
    add(.minimum("ts"))
    add(.maximum("ts"))
    add(.maximum("ts"), low == "draft")
    add(.minimum("ts"), low == "void")
    add(.maximum("rnd"), cat == "c500")
    add(.minimum("nul"))
    add(.maximum("score"))
    add(.maximum("rnd"), rnd < part(0.5))
    add(.maximum("noidx"))
    add(.maximum("noidx"), cat == "c500")
    add(.maximum("amount"), flag == true)
    add(.minimum("seq"), state == "pending")
    add(.maximum("cat"))
    add(.sum("skew"))
    add(.sum("rnd"), cat == "c500")
    add(.sum("noidx"), rnd < part(0.01))
    add(.sum("ts"), low == "draft")
    add(.average("amount"))
    add(.average("amount"), flag == true)
    add(.average("amount"), cat == "c500")
  }

  private mutating func addExpressions() {
    func opaque(_ format: String, _ sql: String? = nil) -> BatteryCondition {
      .opaque(format: format, sql: sql ?? format)
    }
    add(.rows, opaque("rnd > noidx * 50"))
    add(.count, opaque("rnd < noidx"))
    add(.rows, opaque("rnd + noidx == \(count / 2)"))
    add(.rows, opaque("noidx * 2 + 1 < 200"))
    add(.count, opaque("length:(text) > 90", "length(text) > 90"))
    add(.rows, opaque("uppercase:(cat) == 'C500'", "upper(cat) = 'C500'"))
    add(.count, opaque("meta.kind == 'open'", "json_extract(meta, '$.kind') = 'open'"))
    add(.rows, opaque("meta.size == 77", "json_extract(meta, '$.size') = 77"))
    add(.rows, cat == "c010" && opaque("rnd > noidx"))
    add(.rows, cat == "c010" && opaque("meta.size > 500", "json_extract(meta, '$.size') > 500"))
    add(
      .count,
      opaque(
        "text CONTAINS[c] '\(Sighting.words[2].uppercased())'",
        "text LIKE '%\(Sighting.words[2])%'"))
    add(.rows, opaque("seq == 5 + 3"))
    add(.rows, opaque("rnd BETWEEN { 10 * 2, 5 * 9 }", "rnd BETWEEN 10 * 2 AND 5 * 9"))
  }

  // MARK: Wide records

  private mutating func addBroad() {
    let all = count / 10
    let n00 = BatteryField("n00")
    let n02 = BatteryField("n02")
    let n03 = BatteryField("n03")
    let n04 = BatteryField("n04")
    let n36 = BatteryField("n36")
    let n39 = BatteryField("n39")
    let t02 = BatteryField("t02")
    let t00 = BatteryField("t00")
    let t39 = BatteryField("t39")
    func add(
      _ answer: BatteryQuery.Answer, _ condition: BatteryCondition = .all([]),
      order: String = "", limit: Int? = nil
    ) {
      queries.append(
        BatteryQuery(answer, condition, order: order, limit: limit, of: .broad))
    }
    add(.rows, n00 == .int(all / 2))
    add(.rows, n02 == 7)
    add(.rows, n02 == 7, limit: 5)
    add(.ids, n03 == 7)
    add(.rows, n03 == 7 && n04 > 5)
    add(.rows, n03 == 7 && n39 > 100)
    add(.rows, n39 == 4)
    add(.count, n36 == 3)
    add(.count, t00 == .text("\(Sighting.words[0]) 3"))
    add(.count, t39 == .text("\(Sighting.words[39]) 3"))
    add(.rows, t02 == .text("\(Sighting.words[2]) 3"))
    add(.rows, t39.contains("77"))
    add(.rows, order: "n39", limit: 10)
    add(.rows, order: "t02", limit: 10)
    add(.rows, n00 >= .int(all - 100), order: "n39")
    add(.groups("n36", sum: nil))
    add(.groups("n02", sum: "n39"))
    add(.distinct("n02"))
    add(.sum("n39"))
    add(.sum("n39"), n02 < 50)
    add(.maximum("n39"))
    add(.rows)
  }
}
