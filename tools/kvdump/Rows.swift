// The values of rows and their texts, which kvdump shares with the inspector.
@_exported import LodestoreRows
