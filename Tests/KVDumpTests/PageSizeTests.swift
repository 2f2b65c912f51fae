// Whole Foundation: `Process` is not in FoundationEssentials.
import Foundation
import LMDB
import Testing

@testable import KVDumpCommands

/// A library that makes a process see larger pages.
///
/// Without a C compiler the tests print a message and pass.
private enum PageSizeLibrary {
  static let path: String? = {
    let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("tools/engine/page-size.c").path
    let library = FileManager.default.temporaryDirectory.path + "/page-size-\(UUID().uuidString).so"
    let line = #"command -v cc >/dev/null && exec cc -shared -fPIC -O1 -o "$1" "$0" -ldl"#
    #if os(Linux)
      let process = try? ToolProcess.start(line, source, library)
      process?.waitUntilExit()
      if process?.terminationStatus == 0 { return library }
    #endif
    print("skipped: no cc, or no Linux, to make files with other pages")
    return nil
  }()
}

@Suite("A file of a system with larger pages")
struct PageSizeTests {
  @Test(arguments: [16_384, 65_536])
  func `a file of larger pages is read, changed and verified`(systemPageSize: Int) async throws {
    guard let tool = ToolProcess.path, let library = PageSizeLibrary.path else { return }
    let folder = try StoreFolder()
    let rows = (0..<4_000).map { number in
      let text = String(repeating: "word ", count: number % 900 == 0 ? 20_000 : number % 50)
      return #"{"k":\#(number),"text":"\#(text)"}"#
    }
    let file = try folder.file("rows.jsonl", rows.joined(separator: "\n"))
    let process = try ToolProcess.start(
      "exec env LD_PRELOAD='\(library)' LODESTORE_PAGE_SIZE=\(systemPageSize)"
        + #" "$0" import "$1" '\#(file)' --entity E --unique k --infer"#, tool, folder.store)
    process.waitUntilExit()
    try #require(process.terminationStatus == 0)

    // LMDB limits the page size too.
    let pageSize = min(systemPageSize, PageFormat.ofEngine.largestPage)
    let environment = try EnvironmentRegistry.open(folder.store, options: EnvironmentOptions()) {
      _ in
    }
    #expect(try environment.info.pageSize == pageSize)
    if !EngineFence.isRequestedByVariable {
      let isAligned = pageSize <= PageLayout.systemPageSize
      #expect(environment.plainReason == (isAligned ? nil : .pageSize(pageSize)))
    }
    EnvironmentRegistry.close(environment)

    #expect(await folder.isSound())
    for (condition, count) in [
      ("k >= 0", 4_000), ("k BETWEEN { 1000, 1099 }", 100), ("text BEGINSWITH 'word word'", 3_845),
    ] {
      #expect(await folder.run("count", "E", condition).data == "{\"count\":\(count)}\n")
    }
    #expect(await folder.run("delete", "E", "k < 100", "--yes").status == .success)
    #expect(await folder.run("count", "E").data == "{\"count\":3900}\n")
    #expect(await folder.isSound())
  }
}
