import EntityStore
import LodestoreJSON
import LodestoreSystem
import Testing

@testable import LodestoreInspector

// Whole Foundation: `Pipe` is not in FoundationEssentials.
import Foundation

/// Lines sent to a server of the Model Context Protocol, and its responses.
struct Dialogue {
  let library: Library
  var answerSize = ModelContextServer.usualAnswerSize

  var server: ModelContextServer {
    ModelContextServer(
      DynamicStore(library.store), path: library.store.path, version: "1",
      answerSize: answerSize)
  }

  /// Sends the bytes through a pipe, closes it, and returns the lines that the server wrote.
  func exchange(_ bytes: [UInt8]) async throws -> [JSONNode] {
    let (input, output) = (Pipe(), Pipe())
    let server = server
    let answers = Task.detached {
      try await server.run(
        input: input.fileHandleForReading.fileDescriptor,
        output: output.fileHandleForWriting.fileDescriptor)
      try output.fileHandleForWriting.close()
    }
    let threads = ReadingThreads()
    async let sent: Void = threads.run {
      try input.fileHandleForWriting.write(contentsOf: Data(bytes))
      try input.fileHandleForWriting.close()
    }
    let data = try await threads.run { try output.fileHandleForReading.readToEnd() ?? Data() }
    try await sent
    try await answers.value
    #expect(data.isEmpty || data.last == UInt8(ascii: "\n"))
    return try data.split(separator: UInt8(ascii: "\n")).map { try JSONDocument.parsing($0).root }
  }

  func exchange(_ lines: String...) async throws -> [JSONNode] {
    try await exchange(Array(lines.map { $0 + "\n" }.joined().utf8))
  }

  /// Calls a tool, whose answer must be complete, and returns its object.
  func call(
    _ tool: String, _ arguments: String = "{}", sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> JSONNode {
    let result = try await result(tool, arguments)
    let text = try #require(result["content"]?[0]?["text"]?.string)
    #expect(
      result["isError"]?.bool == false, "\(text)", sourceLocation: sourceLocation)
    let answer = try #require(result["structuredContent"])
    let value = try JSONValue(parsing: text)
    #expect(value == answer.jsonValue)
    return answer
  }

  /// Calls a tool, and returns the words of its refusal.
  func refusal(
    _ tool: String, _ arguments: String = "{}", sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> String {
    let result = try await result(tool, arguments)
    #expect(result["isError"]?.bool == true, sourceLocation: sourceLocation)
    #expect(result["structuredContent"] == nil, sourceLocation: sourceLocation)
    return try #require(result["content"]?[0]?["text"]?.string)
  }

  private func result(_ tool: String, _ arguments: String) async throws -> JSONNode {
    let responses = try await exchange(
      #"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\#(tool)","arguments":\#(arguments)}}"#
    )
    try #require(responses.count == 1)
    return try #require(responses[0]["result"])
  }
}
