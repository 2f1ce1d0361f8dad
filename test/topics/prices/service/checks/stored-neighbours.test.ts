import { describe, expect, test } from 'bun:test'
import { createStoredNeighbours } from '../../../../../src/topics/prices/service/checks/stored-neighbours.ts'
import { createObservationStore } from '../../../../../src/topics/prices/store/observations.ts'
import { databaseInMemory } from '../../../../support/instance/database.ts'
import { putSeries } from '../../../../support/topics/series.ts'

/** A series with a value at every third moment up to 9,000, but for a hole from 3,000 to 6,000. */
function storedSeries() {
  const db = databaseInMemory()
  putSeries(db, [1])
  const observations = createObservationStore(db)
  const times = Array.from({ length: 3_000 }, (_, i) => i * 3).filter(
    at => at < 3_000 || at >= 6_000,
  )
  observations.write(
    times.map(observedAt => ({ seriesId: 1, observedAt, value: observedAt / 10 })),
    1,
  )
  return observations
}

/** The results of single queries, which the cursor must match. */
const neighboursOf = (observations: ReturnType<typeof storedSeries>, at: number) => ({
  before: observations.newest(1, at),
  at: observations.between(1, at, at + 1, 1)[0],
})

describe('createStoredNeighbours', () => {
  for (const [title, step] of [
    ['every moment', 1],
    ['moments some pages apart', 701],
    ['moments of the file itself', 3],
  ] as const) {
    test(`says of ${title} what single questions say`, () => {
      const observations = storedSeries()
      const neighbours = createStoredNeighbours(observations, 1)
      for (let at = -10; at < 9_500; at += step)
        expect({ before: neighbours.before(at), at: neighbours.at(at) }).toEqual(
          neighboursOf(observations, at),
        )
    })
  }

  test('stored neighbours return the same result when the same moment is requested twice', () => {
    const observations = storedSeries()
    const neighbours = createStoredNeighbours(observations, 1)
    for (const at of [4_500, 4_500, 6_000, 6_000])
      expect(neighbours.at(at)).toEqual(neighboursOf(observations, at).at)
  })

  test('asks the store some ten times for three thousand moments', () => {
    const observations = storedSeries()
    let questions = 0
    const neighbours = createStoredNeighbours(
      {
        newest: (id, at) => {
          questions += 1
          return observations.newest(id, at)
        },
        after: (id, at, limit) => {
          questions += 1
          return observations.after(id, at, limit)
        },
      },
      1,
    )
    for (let at = 0; at < 9_000; at += 3) neighbours.at(at)
    expect(questions).toBeLessThan(30)
  })
})
