import KVDumpDatasetCommands

await runKVDumpDatasets()
