import ArgumentParser
import LMDB
import LodestorePages
import LodestoreVerifier

/// `kvdump stat`: pages, depth, fill, overflow and free list, by tree.
struct StatCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "stat", abstract: "Show pages, depth, fill, overflow and free pages, by tree.",
    discussion: "Example: kvdump stat catalog.lodestore")

  @OptionGroup var store: StoreArgument
  @OptionGroup(title: "Output") var output: OutputOptions

  /// The columns of the table.
  ///
  /// The column `holds` names the entity, index or relationship whose content the tree has.
  private static let columns: [Column] = [
    .capital("tree"), .capital("holds"), .capital("depth"), Column("branchPages", title: "BRANCH"),
    Column("leafPages", title: "LEAF"), Column("overflowPages", title: "OVERFLOW"),
    .capital("entries"), Column("fill", title: "FILL", alignment: .trailing), .capital("bytes"),
  ]

  func run(on console: Console) async throws -> ExitStatus {
    do {
      let pages = try PageChecker.check(path: store.path, limit: 1)
      if let finding = pages.findings.first {
        throw CommandFailure.damaged(store.path, reason: "the pages are damaged, \(finding.detail)")
      }
      if pages.isOvertaken { throw CommandFailure.overtaken(store.path) }
      let (titles, readerCount) = try StoreFileAccess.withEnvironment(at: store.path) {
        (try TreeTitles.read(from: $0), try $0.info.usedReaderSlotCount)
      }
      if console.format == .json {
        try console.output.write(json(pages, titles, readerCount) + "\n")
        return .success
      }
      try console.write(
        Self.trees(of: pages).map { Self.cells(of: $0, titles[$0.name], pages.pageSizeInBytes) },
        of: Self.columns)
      console.note(Self.summary(of: pages, readerCount))
      return .success
    } catch {
      throw CommandFailure.verification(error, of: store.path) ?? error
    }
  }

  private static func trees(of pages: PageReport) -> [PageReport.Tree] {
    pages.trees + [pages.names, pages.freeList]
  }

  private static func cells(of tree: PageReport.Tree, _ title: String?, _ pageSize: Int) -> [Cell] {
    [
      .text(tree.name), title.map(Cell.text) ?? .null, .count(tree.depth),
      .count(tree.branchPages), .count(tree.leafPages), .count(tree.overflowPages),
      .count(tree.entries), tree.fill.map(Cell.share) ?? .null,
      .byteCount(tree.pages * pageSize),
    ]
  }

  /// A summary such as "38.4 MiB file of a 64 GiB map, 4 KiB pages, 212 free (2.2 %); transaction
  /// 118, 1 reader slot".
  private static func summary(of pages: PageReport, _ readerCount: Int) -> String {
    let share = Double(pages.freePageCount) / Double(max(pages.pageCount, 1))
    return "\(NumberText.byteCount(pages.fileSizeInBytes)) file of a "
      + "\(NumberText.byteCount(Int(clamping: pages.mapSizeInBytes))) map, "
      + "\(NumberText.byteCount(pages.pageSizeInBytes)) pages, "
      + "\(NumberText.grouped(pages.freePageCount)) of \(NumberText.grouped(pages.pageCount)) free "
      + "(\(NumberText.share(share))); transaction \(pages.lastTransaction), "
      + "\(readerCount) reader \(readerCount == 1 ? "slot" : "slots")"
  }

  private func json(_ pages: PageReport, _ titles: [String: String], _ readerCount: Int) -> String {
    let trees = Self.trees(of: pages).map { tree in
      let cells = Self.cells(of: tree, titles[tree.name], pages.pageSizeInBytes)
      return Cell.object(zip(Self.columns, cells).map { ($0.name, $1) })
    }
    return CellJSON.object([
      ("store", .text(store.path)), ("pageSize", .byteCount(pages.pageSizeInBytes)),
      ("fileSize", .byteCount(pages.fileSizeInBytes)), ("mapSize", .unsigned(pages.mapSizeInBytes)),
      ("lastTransaction", .unsigned(pages.lastTransaction)),
      ("readerSlots", .count(readerCount)), ("pages", .count(pages.pageCount)),
      ("freePages", .count(pages.freePageCount)), ("trees", .array(trees)),
    ])
  }
}
