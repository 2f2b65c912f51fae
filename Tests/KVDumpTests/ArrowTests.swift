import EntityStore
import Foundation
import Testing

@testable import KVDumpCommands

@Suite("Arrow streams")
struct ArrowTests {
  /// The interpreter with pyarrow; `ARROW_PYTHON` names one of a virtual environment.
  private static let python =
    ProcessInfo.processInfo.environment["ARROW_PYTHON"] ?? "python3"

  /// Runs a script that has the stream at `path` as the table `t`; `nil` if there is no pyarrow.
  private func pyarrow(_ script: String, _ path: String) throws -> String? {
    let output = try PythonSQLite.run(
      """
      import sys
      try:
        import pyarrow as pa
      except ImportError:
        print('no pyarrow')
        sys.exit()
      with pa.ipc.open_stream(sys.argv[1]) as reader:
        t = reader.read_all()
      t.validate(full=True)
      \(script)
      """, path, python: Self.python)
    guard output != "no pyarrow\n" else {
      print("skipped: \(Self.python) has no pyarrow; ARROW_PYTHON names a Python that has it")
      return nil
    }
    return output
  }

  @Test func `pyarrow reads each type, nulls and values of the limits`() async throws {
    let folder = try StoreFolder()
    try await folder.load(
      """
      [{"n":1,"u":18446744073709551615,"f":1.5,"b":true,"s":"é","x":"AQI=","p":"1.50",
      "day":"2024-01-05T10:00:00.25Z","j":{"k":[1]},"i":"6BA7B810-9DAD-11D1-80B4-00C04FD430C8"},
      {"n":-128,"u":0,"f":-0.5,"b":false,"s":"","x":"","p":"0","day":"1969-12-31T23:59:59.5Z",
      "j":"text","i":"6BA7B810-9DAD-11D1-80B4-00C04FD430C8"}, {"n":3}]
      """, "--entity", "E", "--unique", "n", "--infer", "--type", "day=date", "--type", "n=int8",
      "--type", "u=uint64", "--type", "x=data", "--type", "p=decimal", "--type", "i=uuid")
    let path = folder.path + "/e.arrow"
    let outcome = await folder.run("export", "E", path)
    #expect(outcome.status == .success, "\(outcome.messages)")
    let text = try pyarrow(
      """
      print(*[f'{f.name}:{f.type}:{f.nullable}' for f in t.schema])
      for row in t.to_pylist(): print(*row.values(), sep='|')
      """, path)
    guard let text else { return }
    #expect(
      text == """
        n:int8:False u:uint64:True f:double:True b:bool:True s:string:True x:binary:True p:string:True \
        day:timestamp[us, tz=UTC]:True j:string:True i:string:True
        1|18446744073709551615|1.5|True|é|b'\\x01\\x02'|1.5|2024-01-05 10:00:00.250000+00:00|\
        {"k":[1]}|6BA7B810-9DAD-11D1-80B4-00C04FD430C8
        -128|0|-0.5|False||b''|0|1969-12-31 23:59:59.500000+00:00|"text"|\
        6BA7B810-9DAD-11D1-80B4-00C04FD430C8
        3|None|None|None|None|None|None|None|None|None

        """)
  }

  @Test func `a long result is written in batches with all rows`() async throws {
    let folder = try StoreFolder()
    let lines = (0..<70_000).map { "{\"n\":\($0),\"even\":\($0.isMultiple(of: 2))}\n" }.joined()
    try await folder.load(lines, "--entity", "E", "--unique", "n", "--infer", name: "l.jsonl")
    let path = folder.path + "/e.arrow"
    let sink = MemorySink()
    let memory = Console(output: sink, errors: MemorySink())
    let status = await KVDump.execute(
      ["query", folder.store, "E", "n >= 0", "--format", "arrow"], on: memory)
    #expect(status == .success)
    try Data(sink.bytes).write(to: URL(fileURLWithPath: path))
    let stream = try ArrowStream(sink.bytes)
    #expect(stream.kinds == [1, 3, 3])
    #expect(stream.rowCounts == [65_536, 4_464])
    let sums = try pyarrow(
      """
      import pyarrow.compute as pc
      print(t.num_rows, pc.sum(t['n']), pc.sum(t['even']), len(t.schema))
      """, path)
    #expect(sums == nil || sums == "70000 2449965000 35000 3\n")
  }

  @Test func `no rows are a schema alone`() async throws {
    let folder = try StoreFolder()
    try await folder.load(#"[{"n":1}]"#, "--entity", "E", "--unique", "n", "--infer")
    let path = folder.path + "/e.arrow"
    await folder.run("export", "E", path, "--where", "n == 2")
    #expect(try ArrowStream(Array(folder.bytes(path))).kinds == [1])
    let rows = try pyarrow("print(t.num_rows, t.schema.names)", path)
    #expect(rows == nil || rows == "0 ['n']\n")
  }

  @Test func `a terminal, and rows without types, are refused`() async throws {
    let folder = try StoreFolder()
    try await folder.load(#"[{"n":1}]"#, "--entity", "E", "--unique", "n", "--infer")
    let screen = await folder.run("query", "E", "--format", "arrow", width: 80)
    #expect(screen.status == .usage)
    #expect(screen.messages.contains("is binary, and the output is a terminal"))
    let info = await folder.run("info", "--format", "arrow")
    #expect(info.status == .usage)
    #expect(info.messages.contains("needs columns with types"))
  }
}

/// The messages of an Arrow stream, read by their bytes.
private struct ArrowStream {
  private(set) var kinds: [Int] = []
  private(set) var rowCounts: [Int] = []

  init(_ bytes: [UInt8]) throws {
    func number(_ place: Int, _ size: Int) -> Int {
      (0..<size).reduce(0) { $0 | Int(bytes[place + $1]) << (8 * $1) }
    }
    /// The place of a field of a table.
    func field(_ table: Int, _ index: Int) throws -> Int {
      let list = table - number(table, 4)
      try #require(4 + 2 * index < number(list, 2))
      return table + number(list + 4 + 2 * index, 2)
    }
    var place = 0
    while true {
      try #require(number(place, 4) == 0xFFFF_FFFF)
      let length = number(place + 4, 4)
      place += 8
      if length == 0 { break }
      try #require(length.isMultiple(of: 8) && place.isMultiple(of: 8))
      let message = place + number(place, 4)
      kinds.append(number(try field(message, 1), 1))
      let header = try field(message, 2)
      if kinds.last == 3 {
        let batch = header + number(header, 4)
        rowCounts.append(number(try field(batch, 0), 8))
      }
      place += length + number(try field(message, 3), 8)
    }
    try #require(place == bytes.count)
  }
}
