import { writeDocument } from './document.ts'
import { writeFirstDatabase } from './first-database.ts'
import { writeImage } from './world-image.ts'

/** Makes the files that are compiled into the program; their paths. */
export const writeAssets = async (dir: string): Promise<string[]> => [
  await writeImage(dir),
  await writeFirstDatabase(dir),
  await writeDocument(dir),
]
