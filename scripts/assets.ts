import { writeDemoWorlds } from './demo-worlds.ts'
import { writeDocument } from './document.ts'
import { writeFirstDatabase } from './first-database.ts'

/** Makes the files that are compiled into the program; their paths. */
export const writeAssets = async (dir: string): Promise<string[]> => [
  ...(await writeDemoWorlds(dir)),
  await writeFirstDatabase(dir),
  await writeDocument(dir),
]
