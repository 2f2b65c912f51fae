import Foundation
import Testing

#if os(Linux)
  /// Each step of the tutorial works as it is written.
  ///
  /// Its program is compiled and run, and must print the step's output. All programs run in one
  /// folder, because steps build on the stored records of earlier ones.
  @Suite(.enabled(if: CompilerCheck.shared?.hasMacros == true, "the compiler is not found"))
  struct `The tutorial of the manual` {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../..").standardized
    private static let contents = root.appending(
      path: "Sources/EntityStore/EntityStore.docc/Tutorials/FilmList.tutorial")

    @Test func `the tutorial shows every file, and a program before its run`() throws {
      let tutorial = try Tutorial(contents: Self.contents)
      #expect(tutorial.unused.isEmpty)
      var (programs, transcripts) = ([URL](), 0)
      for step in tutorial.steps {
        switch step {
        case .program(let url):
          #expect(programs.count == transcripts, "\(url.lastPathComponent) is never run")
          programs.append(url)
        case .terminal(let url):
          transcripts += 1
          #expect(programs.count == transcripts, "\(url.lastPathComponent) is of no new program")
          #expect(try !Tutorial.commands(in: url).isEmpty)
        case .manifest: break
        }
      }
      #expect(programs.count == transcripts && Set(programs).count == programs.count)
    }

    @Test func `each step of the tutorial has the described result`() throws {
      let folder = FileManager.default.temporaryDirectory
        .appending(path: "lodestore-tutorial-\(UUID().uuidString)")
      let work = folder.appending(path: "filmlist")
      try FileManager.default.createDirectory(at: work, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let build = try ProgramBuild(try #require(CompilerCheck.shared), in: folder)
      let service = try SampleService(Self.root.appending(path: "Samples"))
      defer { service.stop() }
      var program: URL?
      for step in try Tutorial(contents: Self.contents).steps {
        switch step {
        case .manifest(let url): try expectManifest(url, in: folder)
        case .program(let url): program = try build.build(url)
        case .terminal(let url):
          for command in try Tutorial.commands(in: url) {
            let arguments = command.arguments.map { argument in
              argument.replacing("../lodestore", with: Self.root.path)
                .replacing("http://127.0.0.1:8000", with: service.address)
            }
            let printed = try run(try #require(program), arguments, in: work)
            #expect(printed == command.output, "\(url.lastPathComponent)")
          }
        }
      }
    }

    private func expectManifest(_ url: URL, in folder: URL) throws {
      let package = folder.appending(path: url.deletingPathExtension().lastPathComponent)
      try FileManager.default.createDirectory(at: package, withIntermediateDirectories: true)
      try FileManager.default.copyItem(at: url, to: package.appending(path: "Package.swift"))
      let (status, output) = try CompilerCheck.run(
        ["swift", "package", "--package-path", package.path, "dump-package"])
      #expect(status == 0 && output.contains(#""name" : "filmlist""#), "\(output)")
    }

    /// The whole output of a program.
    private func run(_ program: URL, _ arguments: [String], in folder: URL) throws -> String {
      let process = Process()
      process.executableURL = program
      process.arguments = arguments
      process.currentDirectoryURL = folder
      let pipe = Pipe()
      process.standardOutput = pipe
      process.standardError = pipe
      try process.run()
      let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
      process.waitUntilExit()
      #expect(process.terminationStatus == 0)
      return String(decoding: output, as: UTF8.self)
    }
  }

  /// The service that the tutorial starts in a second terminal, on a port that is free.
  private struct SampleService {
    private let process = Process()
    let address: String

    init(_ folder: URL) throws {
      process.executableURL = URL(filePath: "/usr/bin/env")
      process.arguments =
        ["python3", "-u", "-m", "http.server", "0", "--bind", "127.0.0.1"]
        + ["--directory", folder.path]
      let pipe = Pipe()
      process.standardOutput = pipe
      process.standardError = FileHandle.nullDevice
      try process.run()
      let line = String(decoding: pipe.fileHandleForReading.availableData, as: UTF8.self)
      let port = try #require(line.firstMatch(of: /port (\d+)/)?.1, "\(line)")
      address = "http://127.0.0.1:\(port)"
    }

    /// The service is killed by SIGKILL, because it inherits blocked signals from the test's
    /// threads.
    func stop() {
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
    }
  }
#endif
