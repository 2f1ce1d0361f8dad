import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { readsAsOf } from '../../../../../src/database/dataset-reads.ts'
import { dayMs, isoInstant } from '../../../../../src/lib/time/instant.ts'
import { runs } from '../../../../support/full.ts'
import { openTestInstance, startAt } from '../../../../support/instance/instance.ts'
import { changesOf, exampleRows } from '../../../../support/topics/dataset-changes.ts'

type Variant = 'example' | 'revised'

/** A push of the first row of the example, as it is or revised, that became known days ago. */
interface Push {
  variant: Variant
  daysAgo: number
}

const days = [0, 1, 2, 3, 4]
const pushes = fc.array(
  fc.record({
    variant: fc.constantFrom<Variant>('example', 'revised'),
    daysAgo: fc.constantFrom(...days),
  }),
  { minLength: 2, maxLength: 6 },
)

function openDatasets() {
  const instance = openTestInstance()
  const { datasets, db, adminTokens } = instance.services
  const authorization = `Bearer ${adminTokens.rotate()}`
  // A day of settlements is one record that several sources and its ticks write together: late data
  // is merged into it.
  const versioned = datasets.filter(
    ({ name, revisions }) => revisions && name !== 'futures-settlements',
  )
  const push = async (name: string, { variant, daysAgo }: Push) => {
    const [example] = exampleRows(datasets.find(dataset => dataset.name === name)!)
    const row = {
      ...example!,
      ...(variant === 'revised' && changesOf[name]!.revised),
      recorded_at: isoInstant(startAt - daysAgo * dayMs),
    }
    const path = `/admin/v1/datasets/${name}`
    const body = { rows: [row], replace: true }
    const answer = await instance.send('POST', path, body, undefined, { authorization })
    return { name, status: answer.status }
  }
  /** The stored row as it was known days ago, without when it became known. */
  const rowKnown = (name: string, daysAgo: number) => {
    const dataset = datasets.find(declared => declared.name === name)!
    const { table } = dataset.revisions!
    const rows = readsAsOf(db, startAt - daysAgo * dayMs)
      .statement<Record<string, unknown>>(`SELECT * FROM ${table}`, dataset)
      .all()
    return rows.map(({ recorded_at: _, quoted_at: __, ...row }) => row)
  }
  return { datasets, versioned, push, rowKnown }
}

/** The known values of each day after all pushes so far: the same row again changes nothing. */
function createModel() {
  const known = new Map<number, Variant>()
  let newestAt = Number.NEGATIVE_INFINITY
  return {
    push({ variant, daysAgo }: Push) {
      if (known.get(newestAt) === variant) return
      known.set(-daysAgo, variant)
      newestAt = Math.max(newestAt, -daysAgo)
    },
    knownOn(daysAgo: number): Variant | undefined {
      const at = [...known.keys()].filter(day => day <= -daysAgo)
      return known.get(Math.max(...at))
    },
  }
}

test('a push that became known at any earlier moment is accepted by every dataset', async () => {
  const { datasets, push } = openDatasets()
  for (const { name } of datasets)
    for (const daysAgo of [1, 3, 3, 2, 4, 0])
      for (const variant of ['example', 'revised', 'revised'] as const)
        expect(await push(name, { variant, daysAgo })).toEqual({ name, status: 200 })
})

test('a row has at each moment what had become known by then, in whatever order it was pushed', async () => {
  const variants = ['example', 'revised'] as const
  const rowOf = new Map<string, Record<string, unknown>[]>()
  for (const variant of variants) {
    const { versioned, push, rowKnown } = openDatasets()
    for (const { name } of versioned) {
      await push(name, { variant, daysAgo: 4 })
      rowOf.set(`${name} ${variant}`, rowKnown(name, 4))
    }
  }
  expect(rowOf.size).toBeGreaterThan(2 * 8)
  await fc.assert(
    fc.asyncProperty(pushes, async pushed => {
      const { versioned, push, rowKnown } = openDatasets()
      for (const { name } of versioned) {
        const model = createModel()
        for (const one of pushed) {
          expect(await push(name, one)).toEqual({ name, status: 200 })
          model.push(one)
        }
        for (const daysAgo of days) {
          const variant = model.knownOn(daysAgo)
          if (variant)
            expect({ name, daysAgo, row: rowKnown(name, daysAgo) }).toEqual({
              name,
              daysAgo,
              row: rowOf.get(`${name} ${variant}`)!,
            })
        }
      }
    }),
    { numRuns: runs(8) },
  )
}, 60_000)
