// What the module and those who import it need of Foundation, so that no other file asks where it is.
#if canImport(FoundationEssentials)
  @_exported import FoundationEssentials
#else
  @_exported import Foundation
#endif
