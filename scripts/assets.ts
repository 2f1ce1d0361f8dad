import { writeDemoWorlds } from './demo-worlds.ts'
import { writeDocument } from './document.ts'

/** Makes the files that are compiled into the program; their paths. */
export const writeAssets = async (dir: string): Promise<string[]> => [
  ...(await writeDemoWorlds(dir)),
  await writeDocument(dir),
]
