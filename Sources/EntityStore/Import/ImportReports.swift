extension ReadableTransaction where Self: ~Copyable {
  /// The reports of the imports called `name`, oldest first.
  ///
  /// The list has the last hundred completed runs, followed by the run that is open or was killed.
  ///
  /// - Parameter name: the import's ``ImportOptions/name``, which defaults to the entity's name.
  public func importReports(of name: String) throws(StoreError) -> [ImportReport] {
    try access.core.importReports(of: name)
  }

  /// The names under which imports were run, in the order of their bytes.
  public func importNames() throws(StoreError) -> [String] { try access.core.importNames() }
}

extension TransactionCore {
  func importReports(of name: String) throws(StoreError) -> [ImportReport] {
    try ImportLog(name, self).reports()
  }

  func importNames() throws(StoreError) -> [String] { try ImportLog.names(self) }
}
