// JSONValue and the errors of JSON are of the store's interface: one import brings both.
@_exported public import LodestoreJSON
