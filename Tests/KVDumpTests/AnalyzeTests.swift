// Whole Foundation: `Process` is not in FoundationEssentials.
import Foundation
import Testing

@testable import KVDumpCommands

@Suite struct `The command analyze` {
  private func data(_ arguments: String...) async -> String {
    let memory = MemoryConsole()
    #expect(await KVDump.execute(["analyze"] + arguments, on: memory.console) == .success)
    return memory.data.text
  }

  @Test func `analyze shows the terms of a text with their positions and ranges`() async {
    #expect(
      await data("AFNetworking \u{c9}lan", "--format", "json") == """
        [
        {"position":0,"term":"afnetworking","text":"AFNetworking","start":0,"end":12},
        {"position":0,"term":"af","text":"AF","start":0,"end":2},
        {"position":1,"term":"afnetworking","text":"AFNetworking","start":0,"end":12},
        {"position":1,"term":"networking","text":"Networking","start":2,"end":12},
        {"position":2,"term":"elan","text":"\u{c9}lan","start":13,"end":18}
        ]

        """)
    #expect(await data("—", "--format", "json") == "[]\n")
    #expect(
      await data("\u{6771}\u{4eac}", "--format", "csv")
        == "position,term,text,start,end\r\n0,東,東,0,3\r\n0,東京,東京,0,6\r\n1,京,京,3,6\r\n")
  }

  @Test func `analyze shows what a search for the text looks up`() async {
    #expect(
      await data("new-hope films", "--query") == #"""
        {"position":0,"terms":["new","hope"],"whole":"newhope","text":"new-hope","start":0,"end":8}
        {"position":2,"terms":["films"],"whole":null,"text":"films","start":9,"end":14}

        """#)
  }

  @Test func `analyze shows people a table`() async {
    let memory = MemoryConsole(width: 80)
    let status = await KVDump.execute(
      ["analyze", "Big-Ben", "--limit", "2", "--color", "never"], on: memory.console)
    #expect(status == .success)
    #expect(
      memory.data.text == """
        position  term    text     start  end
               0  bigben  Big-Ben      0    7
               0  big     Big          0    3

        """)
    #expect(memory.messages.text.contains("2 of 4 terms"))
  }

  @Test func `analyze reads standard input`() throws {
    guard let tool = ToolProcess.path else { return }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: tool)
    process.arguments = ["analyze", "--format", "csv"]
    let (input, output) = (Pipe(), Pipe())
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    try input.fileHandleForWriting.write(contentsOf: Data("A\nB".utf8))
    try input.fileHandleForWriting.close()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(text == "position,term,text,start,end\r\n0,a,A,0,1\r\n1,b,B,2,3\r\n")
  }
}
