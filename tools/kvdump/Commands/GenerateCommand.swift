import ArgumentParser
import EntityStore

/// `kvdump generate`: the entities of a store as Swift source.
struct GenerateCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "generate", abstract: "Write the entities as Swift source with @Entity.",
    discussion: """
      Example:
        kvdump generate catalog.lodestore > Sources/App/Catalog.swift

      A program with these structs opens the store without a change. Opening keeps the parts of \
      the schema that the source leaves out, such as attributes that a program derives by a \
      function. Comments in the source name these parts and changed names, and so do notes on \
      standard error.

      Attributes of an enumeration have its raw value, because the file does not have the cases.
      """)

  @OptionGroup var store: StoreArgument
  @OptionGroup(title: "Output") var output: OutputOptions

  func run(on console: Console) async throws -> ExitStatus {
    try ReadStore.read(store.path, on: console) { snapshot in
      let (text, notes) = ModelSource(snapshot).source(of: store.path)
      try console.output.write(text)
      for note in notes { console.note(note) }
    }
    return .success
  }
}
