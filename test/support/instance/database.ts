import { Database } from 'bun:sqlite'
import { openDatabase, prepareForReading } from '../../../src/database/database.ts'
import { shippedCatalogue } from '../../../src/topics/catalogue/files/shipped.ts'
import { createSeriesStore } from '../../../src/topics/catalogue/store/series.ts'

let empty: Uint8Array | undefined
const withCatalogue = new Map<string, Uint8Array>()

/** A database in memory with this version's schema, which is written once and copied from then on. */
export function databaseInMemory(): Database {
  empty ??= openDatabase(':memory:').serialize()
  return copyOf(empty)
}

/** The same with the shipped catalogue. */
export function catalogueInMemory(exchangeWords: readonly string[]): Database {
  const words = exchangeWords.join()
  let image = withCatalogue.get(words)
  if (!image) {
    const db = databaseInMemory()
    const { series, aliases } = shippedCatalogue(exchangeWords)
    createSeriesStore(db).put(series, aliases)
    image = db.serialize()
    withCatalogue.set(words, image)
  }
  return copyOf(image)
}

function copyOf(image: Uint8Array): Database {
  const db = Database.deserialize(image, { strict: true })
  prepareForReading(db)
  return db
}
