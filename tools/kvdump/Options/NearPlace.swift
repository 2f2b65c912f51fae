import ArgumentParser

/// The value of `--near`.
extension NearPlace: ExpressibleByArgument {
  package init?(argument: String) { self.init(argument) }
}
