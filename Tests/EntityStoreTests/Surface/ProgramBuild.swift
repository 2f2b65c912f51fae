import Foundation

/// Builds programs with the modules of the build that the tests are of, and runs them.
struct ProgramBuild {
  private let compiler: CompilerCheck
  private let folder: URL

  /// Links all modules of the products into one library in `folder`, so that programs link fast.
  init(_ compiler: CompilerCheck, in folder: URL) throws {
    self.compiler = compiler
    self.folder = folder
    let list = compiler.modules.appending(
      path: "lodestorePackageTests.product/Objects.LinkFileList")
    let others = /(Tests|KVDump\w*Commands|LoopbackWeb|ExpansionClient|Swift\w+)\.build\//
    let objects = try String(contentsOf: list, encoding: .utf8).split(separator: "\n")
      .filter { !$0.contains(others) }
    let file = folder.appending(path: "objects")
    try objects.joined(separator: "\n").write(to: file, atomically: true, encoding: .utf8)
    try Self.expect(
      "the products do not link",
      ["swiftc", "-emit-library", "-o", library.path, "@\(file.path)"]
        + ["-llmdb", "-lz"])
  }

  /// Compiles the program in a file, and returns the path of the executable.
  ///
  /// - Throws: ``Failure`` with the compiler's output, also for a warning.
  func build(_ source: URL) throws -> URL {
    let program = folder.appending(path: source.deletingPathExtension().lastPathComponent)
    try Self.expect(
      source.lastPathComponent, isSilent: true,
      ["swiftc", "-module-name", "Program"] + compiler.compilerArguments
        + [source.path, library.path, "-o", program.path]
        + ["-Xlinker", "-rpath", "-Xlinker", folder.path])
    return program
  }

  private var library: URL { folder.appending(path: "libProducts.so") }

  /// The compiler's output for a program that it refuses.
  struct Failure: Error, CustomStringConvertible { let description: String }

  private static func expect(
    _ what: String, isSilent: Bool = false, _ command: [String]
  ) throws {
    let (status, output) = try CompilerCheck.run(command)
    guard status == 0, !isSilent || output.isEmpty else {
      throw Failure(description: "\(what): \(output)")
    }
  }
}
