import ArgumentParser
import EntityStore
import LodestoreFormat
import LodestorePages
import LodestoreVerifier

/// `kvdump verify`: checks every rule of the format; status 1 and a list if a rule is broken.
struct VerifyCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Check every page, record, index and checksum; status 1 if any is wrong.",
    discussion: """
      The pages are checked before the file is opened, so the records of a file with damaged \
      pages are not read. A sealed file is also compared with its seal, and its fs-verity digest \
      is printed. kvdump-datasets checks the folder of a published dataset, or its \
      manifest.json: the signatures, and every file that the manifest names.

      Example: kvdump verify catalog.lodestore && echo sound
      """)

  @OptionGroup var store: StoreArgument

  @Option(help: .value("List at most this many problems; 0 lists all.", "n")) var limit = 100

  @Flag(help: "Check the commit before the newest one; 'compact --previous' copies it.")
  var previous = false

  @Option(
    help: .value(
      "For a published dataset: the keys that programs carry, as printed by 'signing-keys show'.",
      "keys"))
  var trust: String?

  @OptionGroup(title: "Output") var output: OutputOptions

  func validate() throws {
    try refuse(if: limit < 0, "--limit: \(limit) is below 0; 0 is all")
    try refuse(
      if: trust != nil && !SiblingProgram.verifiesDatasets(at: store.path),
      "--trust: is for the folder of a published dataset")
  }

  func run(on console: Console) async throws -> ExitStatus {
    if SiblingProgram.verifiesDatasets(at: store.path) {
      throw SiblingProgram.datasets.start(
        ["verify", store.path, "--format", output.format.rawValue]
          + (output.quiet ? ["--quiet"] : []) + (trust.map { ["--trust", $0] } ?? []))
    }
    var report: VerificationReport
    do {
      report = try Verifier.verify(
        path: store.path, commit: previous ? .previous : .newest, limit: limit)
    } catch {
      throw CommandFailure.verification(error, of: store.path) ?? error
    }
    if let seal = report.seal, report.isSound {
      // The file is read a second time, because its pages were read in the order of its trees.
      let digest = try FileVerity.digest(ofFileAt: store.path)
      report.notices.append(
        "sealed: generation \(seal.generation) of '\(seal.name)', fs-verity digest "
          + Finding.hexadecimal(digest))
    }
    if !report.conditional.isEmpty { try verifyConditional(&report, on: console) }
    switch console.format {
    case .json: try console.output.write(report.json(store: store.path) + "\n")
    case .table, .line: try write(report, on: console)
    case .jsonl, .csv, .markdown, .arrow, .geojson:
      try console.write(report.findings.map(\.cells), of: Finding.columns)
    }
    for notice in report.notices { console.note(notice) }
    console.note(
      ShownRows.summary(shown: report.findings.count, total: report.findingCount, noun: "problems"))
    return report.isSound ? .success : .negative
  }

  /// Checks the attributes derived with a condition, which the library evaluates on an open store.
  private func verifyConditional(_ report: inout VerificationReport, on console: Console) throws {
    let names = report.conditional.joined(separator: ", ")
    guard report.isSound, !previous else {
      report.notices.append(
        "not checked: \(names), whose conditions need a sound store, newest commit")
      return
    }
    do {
      try ReadStore.read(store.path, on: console) { snapshot in
        try snapshot.verifyConditional { fault in
          report.findingCount += 1
          guard limit == 0 || report.findings.count < limit else { return }
          report.findings.append(
            Finding(
              .derivedValue, tree: TreeName.records(entity: fault.entityNumber).text,
              subject: "\(fault.entity).\(fault.attribute)", record: fault.record, fault.detail))
        }
      }
    } catch let error as StoreError where error.code == .badSchema {
      report.notices.append("not checked: \(names): \(error.message)")
    }
  }

  /// Writes a line for each tree, then the findings.
  private func write(_ report: VerificationReport, on console: Console) throws {
    var lines: [(name: String, content: String, findingCount: Int)] = []
    if let pages = report.pages {
      lines.append(("pages", NumberText.counted(pages.pageCount, "page"), pages.findingCount))
    }
    for tree in report.trees {
      let content = NumberText.counted(tree.entryCount, "entry", "entries")
      lines.append((tree.name, content, tree.findingCount))
    }
    for entity in report.entities {
      let content =
        NumberText.counted(entity.recordCount, "record") + ", "
        + NumberText.counted(entity.indexEntryCount, "index entry", "index entries")
      lines.append((entity.name, content, entity.findingCount))
    }
    let nameWidth = lines.map { DisplayText($0.name).width }.max() ?? 0
    let contentWidth = lines.map { DisplayText($0.content).width }.max() ?? 0
    for line in lines {
      let name = DisplayText(line.name).padded(to: nameWidth, alignment: .leading)
      let content = DisplayText(line.content).padded(to: contentWidth, alignment: .leading)
      let verdict =
        line.findingCount == 0
        ? console.style.sound("ok")
        : console.style.problem(NumberText.counted(line.findingCount, "problem"))
      try console.output.write("\(name)  \(content)  \(verdict)\n")
    }
    for finding in report.findings {
      try console.output.write("  " + DisplayText.escaped(finding.description) + "\n")
    }
  }
}
