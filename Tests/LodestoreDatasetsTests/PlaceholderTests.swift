import Testing

@testable import LodestoreDatasets
