import EntityStore
import LodestoreFormat
import Testing

@testable import KVDumpCommands

@Suite("Import of members and types")
struct ImportMemberTests {
  private static let text = """
    [{"name":"a","at":"1988-04-15 03:03:10","size":"007","flag":"TRUE","note":5,"raw":"[1,2]"},
     {"name":"b","at":null,"size":"-3","flag":"0","note":true,"raw":"{}"}]
    """
  private static let options = [
    "--entity", "E", "--unique", "name", "--map", "at=time", "--map", "size=length", "--type",
    "time=date:yyyy-MM-dd HH:mm:ss", "--type", "length=int16", "--type", "flag=bool", "--type",
    "note=string", "--type", "raw=json",
  ]

  @Test func `import makes attributes of the names and types that the options give`() async throws {
    let folder = try StoreFolder()
    let file = try folder.file("p.json", Self.text)
    let outcome = await folder.importing([file, "--infer"] + Self.options)
    #expect(outcome.status == .success)
    for note in [
      "member 'at' is attribute 'time'", "attribute 'time', date, optional",
      "attribute 'length', int16", "attribute 'note', string", "attribute 'raw', json",
      "attribute 'name', string",
    ] {
      #expect(outcome.messages.contains("E: \(note)\n"), "\(note)")
    }
    let expected = #"""
      {"_id":1,"name":"a","time":"1988-04-15T03:03:10Z","length":7,"flag":true,"note":"5","raw":[1,2]}
      {"_id":2,"name":"b","time":null,"length":-3,"flag":false,"note":"true","raw":{}}

      """#
    #expect(await folder.run("records", "E").data == expected)
    let again = await folder.importing([file] + Self.options)
    #expect(try folder.report(again) == ImportCounts(records: 2, unchanged: 2))
    #expect(await folder.run("records", "E").data == expected)
    #expect(await folder.isSound())
  }

  @Test(arguments: [
    (["--infer", "--map", "nmae=n"], "no record of E has \"nmae\"; did you mean \"name\"?"),
    (["--map", "nmae=size"], "no record of E has \"nmae\"; did you mean \"name\"?"),
    (["--map", "name=siez"], "--map: E has no attribute \"siez\"; did you mean \"size\"?"),
    (["--infer", "--map", "name=size"], "\"name\" and \"size\" would both be attribute \"size\""),
    (["--map", "a=x", "--map", "b=x"], "'a' and 'b' are both to be 'x'"),
    (["--map", "a=x", "--map", "a=y"], "'a' is to be both 'x' and 'y'"),
    (["--map", "name"], "'name' has no member and attribute"),
    (["--map", "name=a-b"], "'a-b' cannot be an attribute"),
    (["--type", "size=string"], "'size' is int64, and stored types are only widened"),
    (["--type", "siez=int"], "--type: E has no attribute \"siez\"; did you mean \"size\"?"),
    (["--type", "size=int", "--type", "size=double"], "'size' has two types"),
    (["--type", "size=dubble"], "which is not a type; did you mean double?"),
    (["--type", "size=int:unix"], "'size' is int, which has no format"),
    (["--type", "size=date:dd.MM."], "has no year, yyyy"),
    (["--type", "size=date:yyyy HH"], "has the hour, but not the month"),
    (["--type", "size=date:yyyy-MM-dd'T"], "has a quote that is not closed"),
    (["--type", "size=date:yyyy LLL"], "has 'LLL', which is none of"),
    (["--type", "size=date:yyyy-MM-dd hh:mm"], "must have hh and a together"),
    (["--type", "size=date:yyyy-MM-dd HH a"], "must have hh and a together"),
    (["--type", "size=date:yyyy yy"], "has its year twice"),
    (["--type", "size=date:MMM-dd"], "has no year"),
  ])
  func `an option without meaning is a wrong use`(options: [String], message: String) async throws {
    let folder = try StoreFolder()
    try await folder.load(
      #"[{"name":"a","size":1}]"#, "--entity", "E", "--unique", "name", "--infer")
    let before = try folder.bytes(folder.store)
    let file = try folder.file("p.json", #"[{"name":"b","size":2}]"#)
    let outcome = await folder.importing([file, "--entity", "E"] + options)
    #expect(outcome.status == .usage)
    #expect(outcome.messages.contains(message), "\(outcome.messages)")
    #expect(try folder.bytes(folder.store) == before)
  }

  /// The value that the text of one JSON value becomes; nil when it is rejected.
  private func converted(_ json: String, _ type: AttributeType, _ form: String?) throws -> Value? {
    let conversion = TextConversion(to: type, date: try form.map { try DateForm($0) })
    let node = try JSONDocument.parsing(json.utf8).root
    do { return try conversion.value(node) } catch { return nil }
  }

  private static let dates: [(String, String, Double?)] = [
    ("yyyy-MM-dd HH:mm:ss", #""2001-01-01 00:00:01""#, 1.0),
    ("yyyy-MM-dd HH:mm:ss", #""2001-01-01 00:00:1""#, nil),
    ("yyyy-MM-dd HH:mm:ss", #""2001-01-01 00:00:01 ""#, nil),
    ("yyyy-MM-dd HH:mm:ss", #""2023-02-29 00:00:00""#, nil),
    ("yyyy-MM-dd HH:mm:ss", #""2001-01-01 24:00:00""#, nil),
    ("yyyy-MM-dd HH:mm:ss", #""2016-12-31 23:59:60""#, nil),
    ("yyyy-MM-dd", #""2000-02-29""#, -26_524_800), ("yyyy-MM-dd", #""1900-02-29""#, nil),
    ("yyyy-MM-dd", "20010101", nil), ("yyyyMMdd", #""20010102""#, 86_400),
    ("d.M.yyyy", #""2.1.2001""#, 86_400), ("d.M.yyyy", #""02.01.2001""#, 86_400),
    ("yyyy", #""2002""#, 31_536_000),
    ("yyyy-MM-dd'T'HH:mm:ss.SSSZ", #""2001-01-01T00:00:00.250Z""#, 0.25),
    ("yyyy-MM-dd'T'HH:mm:ss.SSSZ", #""2001-01-01T02:00:00.500+02:00""#, 0.5),
    ("yyyy-MM-dd'T'HH:mm:ss.SSSZ", #""2001-01-01T00:00:00.5Z""#, nil),
    ("yyyy-MM-dd HH:mm Z", #""2001-01-01 00:00 -0130""#, 5400),
    ("yyyy-MM-dd HH:mm Z", #""2001-01-01 00:00 +24""#, nil),
    ("yyyy 'o''clock'", #""2001 o'clock""#, nil), ("yyyy 'at'", #""2001 at""#, 0),
    ("yyyy''", #""2001'""#, 0), ("unix", "978307201", 1), ("unix", "978307200.5", 0.5),
    ("unix", #""-1""#, -978_307_201), ("unix", "-0.5", -978_307_200.5), ("unix", #""x""#, nil),
    ("unix", "1e30", nil), ("unixms", "978307200250", 0.25),
    ("unixms", #""-1500""#, -978_307_201.5),
    ("unix", "true", nil),
    ("d MMM yyyy", #""2 Jan 2001""#, 86_400), ("d MMM yyyy", #""2 jan 2001""#, 86_400),
    ("d MMM yyyy", #""2 January 2001""#, nil), ("d MMMM yyyy", #""2 January 2001""#, 86_400),
    ("d MMM yyyy", #""2 Jax 2001""#, nil), ("d MMM yyyy", #""30 Feb 2001""#, nil),
    ("MM/dd/yy", #""01/02/01""#, 86_400), ("MM/dd/yy", #""01/01/69""#, -1_009_843_200),
    ("MM/dd/yy", #""01/01/68""#, 2_114_294_400), ("MM/dd/yy", #""01/01/2001""#, nil),
    ("yyyy-MM-dd hh:mm a", #""2001-01-01 12:00 AM""#, 0),
    ("yyyy-MM-dd hh:mm a", #""2001-01-01 12:00 pm""#, 43_200),
    ("yyyy-MM-dd hh:mm a", #""2001-01-01 11:59 PM""#, 86_340),
    ("yyyy-MM-dd hh:mm a", #""2001-01-01 13:00 PM""#, nil),
    ("yyyy-MM-dd hh:mm a", #""2001-01-01 00:00 AM""#, nil),
    ("yyyy-MM-dd h:mma", #""2001-01-01 1:00AM""#, 3600),
    ("EEE, dd MMM yyyy HH:mm:ss Z", #""Tue, 02 Jan 2001 00:00:00 GMT""#, 86_400),
    ("EEE, dd MMM yyyy HH:mm:ss Z", #""Tue, 02 Jan 2001 00:00:00 +0100""#, 82_800),
    ("EEE, dd MMM yyyy", #""Mon, 02 Jan 2001""#, nil),
    ("EEEE d MMMM yyyy", #""Tuesday 2 January 2001""#, 86_400),
    ("yyyy-MM-dd HH:mm z", #""2001-01-01 00:00 UTC""#, 0),
  ]

  @Test(arguments: dates)
  func `dates are read in the form that the option gives, or refused`(
    form: String, text: String, seconds: Double?
  ) throws {
    #expect(try converted(text, .date, form) == seconds.map(Value.date))
  }

  private static let texts: [(String, AttributeType, Value?)] = [
    ("12", .int8, .integer(12)), ("128", .int8, nil), ("+5", .int64, .integer(5)),
    ("-0", .int64, .integer(0)), ("5.0", .int64, .integer(5)), ("5.5", .int64, nil),
    (" 5", .int64, nil), ("5 ", .int64, nil), ("0x10", .int64, nil), ("", .int64, nil),
    ("1_000", .int64, nil), ("-1", .uint8, nil),
    ("18446744073709551615", .uint64, .integer(unsigned: .max)),
    ("18446744073709551616", .uint64, nil), ("0.1", .double, .double(0.1)),
    ("1e3", .double, .double(1000)), ("1e999", .double, nil), ("inf", .double, nil),
    ("0x1p3", .double, nil), ("Infinity", .double, .double(.infinity)),
    ("9007199254740993", .double, nil), ("16777217", .float, nil), ("0.5", .float, .double(0.5)),
    ("true", .bool, .bool(true)), ("False", .bool, .bool(false)), ("1", .bool, .bool(true)),
    ("yes", .bool, nil), ("2024-02-30", .date, nil), ("2001-01-01", .date, .date(0)),
    ("x", .uuid, nil), ("AP8=", .data, .data([0, 255])), ("?", .data, nil), ("{", .json, nil),
    ("1.10", .string, .string("1.10")),
    ("https://example.org/", .url, .string("https://example.org/")), ("http://[", .url, nil),
  ]

  @Test(arguments: texts)
  func `texts become values exactly, or are refused`(
    text: String, type: AttributeType, value: Value?
  ) throws {
    #expect(try converted("\"\(text)\"", type, nil) == value)
  }

  @Test func `text for a number or a date reports the accepted form, and its fault`()
    async throws
  {
    let folder = try StoreFolder()
    try await folder.load(
      #"[{"k":0,"n":1,"f":0.5,"b":true},{"k":1,"n":1,"f":0.5,"b":true,"at":"2024-01-01T00:00:00Z"}]"#,
      "--entity", "E", "--unique", "k", "--infer", "--type", "at=date")
    func reasons(_ options: String...) async throws -> [String] {
      let file = try folder.file(
        "p.json",
        #"""
        [{"k":2,"n":"1,5","f":0,"b":true},{"k":3,"n":0,"f":"1,5","b":true},
        {"k":4,"n":0,"f":0,"b":"ja"},{"k":5,"n":0,"f":0,"b":true,"at":"1.2.2024"},
        {"k":6,"n":0,"f":0,"b":true,"at":1704067200},{"k":7,"n":true,"f":0,"b":true}]
        """#)
      let outcome = await folder.importing([file, "--entity", "E", "--format", "json"] + options)
      let rejects = try JSONValue(parsing: outcome.data)["rejects"]?.arrayValue ?? []
      return rejects.compactMap { $0["reason"]?.stringValue }
    }
    #expect(
      try await reasons() == [
        "'n' must be an integer that fits int64, found a string; --type n=int64 reads texts",
        "'f' must be a number that fits double, found a string; --type f=double reads texts",
        "'b' must be true or false, found a string; --type b=bool reads texts",
        "'at' must be a date as ISO 8601 text, found a string; --type at=date:FORMAT reads other forms",
        "'at' must be a date as ISO 8601 text, found an integer 1704067200; "
          + "--type at=date:FORMAT reads other forms",
        "'n' must be an integer that fits int64, found a Boolean",
      ])
    #expect(
      try await reasons(
        "--type", "n=int", "--type", "f=double", "--type", "b=bool", "--type", "at=date:unix") == [
          #"'n' must be an integer that fits int64, found the string "1,5""#,
          #"'f' must be a number that fits double, found the string "1,5""#,
          #"'b' must be true or false, found the string "ja""#,
          #"'at' must be seconds since 1970, found the string "1.2.2024""#,
          "'n' must be an integer that fits int64, found a Boolean",
        ])
  }

  @Test func `inference from the first pages reports the sample`() async throws {
    let folder = try StoreFolder()
    let lines = (0..<1000).map { #"{"k":\#($0)}"# } + [#"{"k":"x"}"#]
    let file = try folder.file("p.jsonl", lines.joined(separator: "\n"))
    let outcome = await folder.importing([
      file, "--entity", "E", "--unique", "k", "--infer", "--sample", "1",
    ])
    #expect(try folder.report(outcome).rejected == 1)
    #expect(outcome.messages.contains("E: inferred from 1,000 records of the first page;"))
    #expect(outcome.messages.contains("E: attribute 'k', int64\n"))
    let all = try StoreFolder()
    let whole = await all.importing([
      file, "--entity", "E", "--unique", "k", "--infer", "--index", "k",
    ])
    #expect(whole.messages.contains("\"k\": is json and cannot be indexed"))
  }
}
