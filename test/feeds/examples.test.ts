import { describe, expect, test } from 'bun:test'
import type { Dataset } from '../../src/feeds/files/dataset.ts'
import { faultOf, setUp, taken } from '../support/topics/carriers.ts'

describe('every dataset', () => {
  test('takes its own example, and nothing happens when it comes again', () => {
    const { storage, published, schedules } = setUp()
    for (const dataset of [storage, published, schedules] as Dataset<unknown>[]) {
      const names = dataset.example.split('\n')[0]!.split(',')
      const columns = dataset.columns.map(column => column.name)
      expect(
        names.filter(name => !columns.includes(name)),
        dataset.name,
      ).toEqual([])
      expect(
        dataset.columns.filter(column => column.required && !names.includes(column.name)),
        dataset.name,
      ).toEqual([])
      const records = taken(dataset, dataset.example)
      expect(dataset.write(records, 1), dataset.name).toEqual({
        inserted: 2,
        revised: 0,
        unchanged: 0,
      })
      expect(dataset.write(taken(dataset, dataset.example), 2), dataset.name).toEqual({
        inserted: 0,
        revised: 0,
        unchanged: 2,
      })
    }
  })

  test('refuses a row that lacks what it needs, and names it', () => {
    const { storage, published, schedules } = setUp()
    for (const dataset of [storage, published, schedules] as Dataset<unknown>[]) {
      const names = dataset.example.split('\n')[0]!.split(',')
      const fields = dataset.example.split('\n')[1]!.split(',')
      for (const { name } of dataset.columns.filter(column => column.required)) {
        const row = Object.fromEntries(names.map((one, i) => [one, one === name ? '' : fields[i]]))
        expect(faultOf(dataset, row), `${dataset.name}: ${name}`).toMatchObject({
          field: name,
          reason: expect.stringMatching(/ is missing: /),
        })
      }
    }
  })
})
