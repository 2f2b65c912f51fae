import ArgumentParser
import EntityStore
import LodestoreBytes

/// The charts of `kvdump plot`.
enum PlotKind: String, CaseIterable, ExpressibleByArgument {
  case sizes, history, dates, values, keys, histogram, counts
}

/// `kvdump plot`: values of a store as a chart.
struct PlotCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "plot", abstract: "Draw sizes, dates and other values as a chart.",
    discussion: """
      Examples:
        kvdump plot sizes catalog.lodestore
        kvdump plot dates catalog.lodestore Fireball
        kvdump plot counts catalog.lodestore Pod license.type --where 'stars > 20'
        kvdump plot histogram catalog.lodestore Pod stars -o stars.svg

      The charts:
        sizes [ENTITY]              the bytes of records and indexes
        history [ENTITY]            the changed records of each of the last writes
        dates ENTITY [ATTRIBUTE]    records by day, month or year
        values ENTITY               records by their length in bytes
        keys ENTITY INDEX           the most frequent values of an index
        histogram ENTITY ATTRIBUTE  records in equal parts of a range of values
        counts ENTITY ATTRIBUTE     the most frequent values

      ATTRIBUTE may also be a path into JSON or to related records, or an expression. A terminal \
      shows the chart in block characters. Elsewhere, and with --format, the output is the \
      numbers of the chart. -o writes the chart as an SVG file.

      A chart is one read of one commit. A read that takes longer than --timeout ends without a \
      chart, because a store cannot reuse its pages meanwhile.
      """)

  @Argument(help: "The chart.") var kind: PlotKind

  @OptionGroup var store: StoreArgument

  @Argument(help: "The entity.") var entity: String?

  @Argument(help: "The attribute, or the index of 'keys'.") var attribute: String?

  @Option(
    help: .value(
      "Plot only records for which this predicate format string is true.", "format string"))
  var `where`: String?

  @OptionGroup(title: "Selection") var marks: MarkOptions

  @Option(
    help: .value(
      "Draw at most this many bars or writes; the default is \(Plot.barCount) bars and "
        + "\(Plot.writeCount) writes.", "n"))
  var limit: Int?

  @Option(help: .value("End a read that takes longer; 0 is no limit.", "seconds")) var timeout = 30

  @Option(
    name: [.customShort("o"), .customLong("output")],
    help: .value(
      "Write the chart to this SVG file.", "file"), completion: .file(extensions: ["svg"]))
  var file: String?

  @Flag(help: "Replace an existing file.") var force = false

  @OptionGroup(title: "Output") var output: OutputOptions

  func validate() throws {
    try marks.check(`where`)
    try RowOptions.checkLimit(limit)
    try refuse(if: timeout < 0, "--timeout: \(timeout) is below 0; 0 is no limit")
    switch kind {
    case .sizes, .history:
      try refuse(if: attribute != nil, "\(kind.rawValue): takes no attribute")
    case .dates: try refuse(if: entity == nil, "dates: name an entity")
    case .values:
      try refuse(if: entity == nil || attribute != nil, "values: name an entity alone")
    case .keys: try refuse(if: attribute == nil, "keys: name an entity and an index")
    case .histogram, .counts:
      try refuse(if: attribute == nil, "\(kind.rawValue): name an entity and an attribute")
    }
    let takesCondition = [.dates, .histogram, .counts].contains(kind)
    try refuse(if: !takesCondition && `where` != nil, "--where: is for dates, histogram and counts")
    try refuse(if: force && file == nil, "--force: is for the file of -o")
  }

  var formatString: String? { `where` }

  func run(on console: Console) async throws -> ExitStatus {
    let plot: Plot
    do {
      plot = try read(on: console)
    } catch let error as StoreError where error.code == .cancelled {
      throw CommandFailure.plotTimeout(kind, seconds: timeout, store: store.path)
    } catch is PlotReading.TimeOver {
      throw CommandFailure.plotTimeout(kind, seconds: timeout, store: store.path)
    }
    if let file {
      let output = try OutputFile(file, replaces: force, store: store.path)
      try SVG.file(plot.drawing)._withBytes(output.write)
      try output.commit()
      try console.writeObject([("file", .text(file)), ("size", .byteCount(output.size))])
    } else if console.format == .table {
      let chart = TerminalChart(width: console.terminal.size?.columns ?? 80, style: console.style)
      let lines = chart.lines(plot)
      // The pager counts bytes, and a block has three.
      if lines.count + 1 < console.terminal.size?.rows ?? 0 { console.showAtOnce() }
      for line in lines { try console.line(line) }
    } else {
      try console.write(plot.rows, of: plot.columns)
    }
    console.note(plot.note)
    return .success
  }

  private func read(on console: Console) throws -> Plot {
    let end = timeout > 0 ? ContinuousClock.now + .seconds(timeout) : nil
    let isOver: @Sendable () -> Bool = { end.map { ContinuousClock.now >= $0 } ?? false }
    if kind == .values {
      let (number, name) = try ReadStore.read(store.path, on: console) { snapshot in
        let entity = try snapshot.entity(entity ?? "")
        return (entity.description.number, entity.name)
      }
      return try ReadStore.withEnvironment(store.path, warns: false, on: console) {
        try RecordLengths(of: number, in: $0, isOver: isOver)
      }.plot(name)
    }
    return try ReadStore.read(store.path, checksRecords: true, on: console) { snapshot in
      try PlotReading(self, snapshot, isOver: isOver).plot()
    }
  }
}

extension CommandFailure {
  static func plotTimeout(_ kind: PlotKind, seconds: Int, store: String) -> CommandFailure {
    CommandFailure.about(
      store: store, code: "timeout",
      "the chart '\(kind.rawValue)' took longer than \(seconds) s; select fewer records with "
        + "--where, or allow more time with --timeout", status: .tryAgain)
  }

  static func nothingToPlot(_ name: String, _ noun: String) -> CommandFailure {
    .badArgument(
      name, reason: "has no \(noun) to plot", nextStep: "plot the values by 'kvdump plot counts'")
  }
}
